// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/oom/oom_text_dialog.hpp"
#include "widgets/style/style.hpp"

#include <QClipboard>
#include <QGuiApplication>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QtTest>

using namespace tidemark;

namespace {

const QString fragmentedText = QStringLiteral(
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.96 GiB. GPU 0 has a total capacity of "
    "23.65 GiB of which 1.08 GiB is free. Of the allocated memory 20.31 GiB is allocated by PyTorch, and "
    "1.83 GiB is reserved by PyTorch but unallocated. If reserved but unallocated memory is large try "
    "setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.");

QString plain(QString text)
{
    return text.replace(QChar(0xa0), QLatin1Char(' '));
}

} // namespace

class TestOomTextDialog : public QObject {
    Q_OBJECT

private slots:
    void asksForATextAtFirst()
    {
        Style style;
        OomTextDialog dialog(style);
        QVERIFY(dialog.title().startsWith(QLatin1String("Paste the text")));
        QVERIFY(dialog.figures().isEmpty());
        QVERIFY(!dialog.isModal());
    }

    void explainsAsOneTypes()
    {
        Style style;
        OomTextDialog dialog(style);
        dialog.show();
        auto* const field = dialog.findChild<QPlainTextEdit*>();
        field->setFocus();
        QTest::keyClicks(field, QStringLiteral("hello"));
        QVERIFY2(dialog.title().startsWith(QLatin1String("This is no out-of-memory text")),
            qPrintable(dialog.title()));
        QVERIFY(!dialog.explanation().isEmpty());
        dialog.setText(fragmentedText);
        QCOMPARE(dialog.title(), QStringLiteral("By fragmentation, not by size"));
        const QString figures = plain(dialog.figures().join(QLatin1Char('\n')));
        for (const char* part : {"Asked for: 1.96 GiB", "Free on the device: 1.08 GiB",
                 "Reserved but unallocated: 1.83 GiB", "Slack: +973 MiB", "Card: 23.65 GiB"})
            QVERIFY2(figures.contains(QLatin1String(part)), qPrintable(figures));
        dialog.setText({});
        QVERIFY(dialog.figures().isEmpty());
    }

    void saysHowMuchIsShort()
    {
        Style style;
        OomTextDialog dialog(style);
        dialog.setText(QStringLiteral("CUDA out of memory. Tried to allocate 3.91 GiB. GPU 0 has a total "
                                      "capacity of 79.15 GiB of which "
                                      "830.56 MiB is free. Of the allocated memory 70.00 GiB is allocated by "
                                      "PyTorch, and 100.91 MiB is "
                                      "reserved by PyTorch but unallocated."));
        QCOMPARE(plain(dialog.title()), QStringLiteral("By size: even packed, 3.00 GiB short"));
        QVERIFY(dialog.figures().filter(QStringLiteral("Slack")).size() == 1);
    }

    void knowsWhatIsOutsideTheAllocator()
    {
        Style style;
        OomTextDialog dialog(style);
        dialog.setText(QStringLiteral("RuntimeError: CUDA error: out of memory"));
        QCOMPARE(dialog.title(), QStringLiteral("Outside PyTorch's allocator"));
        QVERIFY2(dialog.figures().isEmpty(), qPrintable(dialog.figures().join(QLatin1Char('\n'))));
    }

    void copiesTheExplanation()
    {
        Style style;
        OomTextDialog dialog(style);
        QPushButton* copy = nullptr;
        for (auto* button : dialog.findChildren<QPushButton*>())
            if (button->text() == QLatin1String("Copy explanation"))
                copy = button;
        QVERIFY(copy != nullptr);
        QVERIFY(!copy->isEnabled());
        dialog.setText(fragmentedText);
        QVERIFY(copy->isEnabled());
        copy->click();
        const QString text = QGuiApplication::clipboard()->text();
        QVERIFY2(text.startsWith(QLatin1String("By fragmentation, not by size\n")), qPrintable(text));
        QVERIFY2(text.contains(QLatin1String("Asked for: 1.96 GiB")), qPrintable(text));
    }
};

QTEST_MAIN(TestOomTextDialog)
#include "tst_oom_text_dialog.moc"
