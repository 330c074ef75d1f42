// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/help_window.hpp"
#include "model/core/quality.hpp"

#include <QTextBlock>
#include <QTextBrowser>
#include <QTextTable>
#include <QtTest>

using namespace tidemark;

class TestHelpWindow : public QObject {
    Q_OBJECT

private slots:
    void opensAtTheHeading()
    {
        for (const Quality id : {Quality::RingWrapped, Quality::UnknownState, Quality::OtherRecorder}) {
            const QString heading = QString::fromLatin1(qualityName(id));
            m_window.open(QStringLiteral("data-quality#") + heading);
            QVERIFY(QTest::qWaitForWindowExposed(&m_window));
            QCOMPARE(m_window.page(), QStringLiteral("data-quality"));
            QCOMPARE(text().textCursor().block().text(), heading);
            QTRY_VERIFY2(text().viewport()->rect().contains(text().cursorRect()), qPrintable(heading));
        }
    }

    void linksOpenPages()
    {
        m_window.open(QStringLiteral("index"));
        emit text().anchorClicked(QUrl(QStringLiteral("numbers.md#Peak")));
        QCOMPARE(m_window.page(), QStringLiteral("numbers"));
        QCOMPARE(text().textCursor().block().text(), QStringLiteral("Peak"));
    }

    void tablesHaveOneThinBorder()
    {
        m_window.open(QStringLiteral("window"));
        int tables = 0;
        for (QTextFrame* frame : text().document()->rootFrame()->childFrames())
            if (const auto* table = qobject_cast<QTextTable*>(frame)) {
                QVERIFY(table->format().borderCollapse());
                ++tables;
            }
        QVERIFY(tables > 2);
    }

private:
    QTextBrowser& text() { return *m_window.findChild<QTextBrowser*>(); }

    Style m_style;
    HelpWindow m_window{m_style};
};

QTEST_MAIN(TestHelpWindow)
#include "tst_help_window.moc"
