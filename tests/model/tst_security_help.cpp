// SPDX-License-Identifier: GPL-3.0-or-later
// The table of limits in the help has every limit of the reader, and no other.
#include <QFile>
#include <QRegularExpression>
#include <QTest>

namespace {

QString contents(const QString& path)
{
    QFile file(QStringLiteral(TIDEMARK_RESOURCES "/") + path);
    return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

QStringList matches(const QString& text, const QString& pattern)
{
    QStringList out;
    const QRegularExpression expression(pattern);
    for (auto each = expression.globalMatch(text); each.hasNext();)
        out << each.next().captured(1);
    out.sort();
    return out;
}

} // namespace

class TestSecurityHelp : public QObject {
    Q_OBJECT
private slots:
    void everyLimitIsListed()
    {
        const QStringList limits = matches(
            contents("../model/core/limits.hpp"), QStringLiteral("inline constexpr std::\\w+ (\\w+) ="));
        QVERIFY(limits.size() > 15);
        const QString page = contents("help/security.md");
        const qsizetype from = page.indexOf(QStringLiteral("| limit | is | beyond it |"));
        const QString table = page.mid(from, page.indexOf(QStringLiteral("Other files"), from) - from);
        QCOMPARE(matches(table, QStringLiteral("`(\\w+)`")), limits);
    }

    void placesExist()
    {
        const QString page = contents("help/security.md");
        for (const QString& place :
            matches(page, QStringLiteral("`((?:model|packaging)/[\\w/.]+)(?: \\w+)?`")))
            QVERIFY2(QFile::exists(QStringLiteral(TIDEMARK_RESOURCES "/../") + place), qPrintable(place));
    }
};

QTEST_GUILESS_MAIN(TestSecurityHelp)
#include "tst_security_help.moc"
