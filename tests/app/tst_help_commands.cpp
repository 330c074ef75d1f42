// SPDX-License-Identifier: GPL-3.0-or-later
// The command line's help page names every command and every option there is.
#include "app/cli/command.hpp"

#include <QFile>
#include <QtTest>

using namespace tidemark;

class TestHelpCommands : public QObject {
    Q_OBJECT

private slots:
    void initTestCase()
    {
        QFile file(QStringLiteral(TIDEMARK_RESOURCES "/help/command-line.md"));
        QVERIFY2(file.open(QIODevice::ReadOnly), qPrintable(file.errorString()));
        m_page = QString::fromUtf8(file.readAll());
    }

    void everyOptionHasItsRow()
    {
        QVERIFY(!commands().empty());
        const QString common = section(QStringLiteral("Options of every command and of the window"));
        for (const Command* command : commands()) {
            const QString text = section(QStringLiteral("tidemark ") + QLatin1String(command->name));
            QVERIFY2(!text.isEmpty(), command->name);
            for (const CommandOption& option : command->options) {
                const QString row = option.value
                    ? QStringLiteral("| `%1 %2` |")
                          .arg(QLatin1String(option.name), QString::fromUtf8(option.value))
                    : QStringLiteral("| `%1` |").arg(QLatin1String(option.name));
                QVERIFY2(text.contains(row) || common.contains(row),
                    qPrintable(QLatin1String(command->name) + u' ' + row));
            }
        }
    }

private:
    QString section(const QString& title) const
    {
        const auto begin = m_page.indexOf(QStringLiteral("\n## %1\n").arg(title));
        if (begin < 0)
            return {};
        const auto end = m_page.indexOf(QStringLiteral("\n## "), begin + 1);
        return m_page.mid(begin, end < 0 ? -1 : end - begin);
    }

    QString m_page;
};

QTEST_GUILESS_MAIN(TestHelpCommands)
#include "tst_help_commands.moc"
