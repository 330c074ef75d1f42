// SPDX-License-Identifier: GPL-3.0-or-later
// The help pages keep up with the program: what they list is what the code has.
#include "model/core/quality.hpp"
#include "model/findings/rule.hpp"
#include "model/lens/sites.hpp"

#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QRegularExpression>
#include <QtTest>

#include <set>

using namespace tidemark;

namespace {

QString page(const QString& name)
{
    QFile file(QStringLiteral(TIDEMARK_RESOURCES "/help/") + name);
    return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

QString matchText(const FrameRule& rule)
{
    using Match = FrameRule::Match;
    switch (rule.match) {
    case Match::NameIs:
        return QStringLiteral("function is");
    case Match::NameContains:
        return QStringLiteral("function contains");
    case Match::NameStartsWith:
        return QStringLiteral("function starts with");
    case Match::FileIs:
        return QStringLiteral("file is");
    case Match::FileContains:
        return QStringLiteral("path contains");
    case Match::FileEndsWith:
        return QStringLiteral("path ends with");
    case Match::SymbolWithoutFile:
        return QStringLiteral("function is a bare symbol and there is no file");
    case Match::StandardLibrary:
        return QStringLiteral("path is that of Python's own library");
    }
    return {};
}

/// The table of sites.md: neighbouring rules of one kind and reason share a row.
QString frameTable()
{
    QString table = QStringLiteral("| a frame is of a framework when its | | why |\n|---|---|---|\n");
    const auto rules = frameRules();
    for (std::size_t i = 0; i < rules.size();) {
        QStringList texts;
        const std::size_t first = i;
        for (; i < rules.size() && rules[i].match == rules[first].match
             && qstrcmp(rules[i].why, rules[first].why) == 0;
             ++i)
            if (*rules[i].text != '\0')
                texts += QStringLiteral("`%1`").arg(QLatin1String(rules[i].text));
        table += QStringLiteral("| %1 | %2 | %3 |\n")
                     .arg(matchText(rules[first]), texts.join(QStringLiteral(", ")),
                         QString::fromUtf8(rules[first].why));
    }
    return table;
}

} // namespace

class TestHelp : public QObject {
    Q_OBJECT

private slots:
    void sitesPageShowsTheTable()
    {
        const QString expected = frameTable();
        if (!page(QStringLiteral("sites.md")).contains(expected))
            QFAIL(qPrintable(QStringLiteral("sites.md should hold this table:\n") + expected));
    }

    void everyRuleHasItsRow()
    {
        const QString text = page(QStringLiteral("findings.md"));
        for (const Rule& rule : rules())
            QVERIFY2(text.contains(QStringLiteral("\n| `%1` | ").arg(QLatin1String(rule.id))), rule.id);
    }

    /// Ids of fixes are words joined by hyphens in the sources of the findings.
    void everyFixHasItsRow()
    {
        const QString text = page(QStringLiteral("fixes.md"));
        std::set<QString> known{QStringLiteral("set-up")}; // the name of a phase
        for (const Rule& rule : rules())
            known.insert(QLatin1String(rule.id));
        std::set<QString> fixes{QStringLiteral("recompute"), QStringLiteral("parallelism")};
        const QRegularExpression quoted(QStringLiteral("\"([a-z]+(?:-[a-z0-9]+)+)\""));
        QDirIterator sources(QStringLiteral(TIDEMARK_RESOURCES "/../model/findings"),
            {QStringLiteral("*.cpp"), QStringLiteral("*.hpp")}, QDir::Files, QDirIterator::Subdirectories);
        while (sources.hasNext()) {
            QFile source(sources.next());
            QVERIFY(source.open(QIODevice::ReadOnly));
            auto found = quoted.globalMatch(QString::fromUtf8(source.readAll()));
            while (found.hasNext())
                if (const QString id = found.next().captured(1); !known.count(id))
                    fixes.insert(id);
        }
        QVERIFY(fixes.size() > 50);
        for (const QString& id : fixes)
            QVERIFY2(text.contains(QStringLiteral("`%1`").arg(id)), qPrintable(id));
    }

    void everyQualityIdHasItsSection()
    {
        const QString text = page(QStringLiteral("data-quality.md"));
        for (int id = 0; id <= static_cast<int>(Quality::EventRange); ++id) {
            const auto quality = static_cast<Quality>(id);
            const QString section
                = QStringLiteral("## %1\n*%2.*")
                      .arg(QLatin1String(qualityName(quality)), QLatin1String(qualityTitle(quality)));
            QVERIFY2(text.contains(section), qPrintable(section));
        }
        QCOMPARE(text.count(QStringLiteral("\n## ")), static_cast<int>(Quality::EventRange) + 1);
    }

    void linksLeadToPages()
    {
        const QDir folder(QStringLiteral(TIDEMARK_RESOURCES "/help"));
        const QStringList pages = folder.entryList({QStringLiteral("*.md")});
        QVERIFY(pages.size() >= 8);
        const QRegularExpression link(QStringLiteral("\\]\\(([^)#:]+)(#[^)]*)?\\)"));
        for (const QString& name : pages) {
            auto found = link.globalMatch(page(name));
            while (found.hasNext()) {
                const QString target = found.next().captured(1);
                QVERIFY2(folder.exists(target), qPrintable(name + QStringLiteral(" → ") + target));
            }
            QVERIFY2(name == QStringLiteral("index.md")
                    || page(QStringLiteral("index.md")).contains(QStringLiteral("](%1)").arg(name)),
                qPrintable(QStringLiteral("index.md does not name ") + name));
        }
    }
};

QTEST_GUILESS_MAIN(TestHelp)
#include "tst_help.moc"
