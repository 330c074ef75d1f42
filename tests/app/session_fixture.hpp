// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/session_keeper.hpp"
#include "tests/app/window_fixture.hpp"

#include <QDir>
#include <QMessageBox>
#include <QPushButton>

namespace tidemark::test {

inline report::Annotation noteAt(std::int64_t event, const std::string& text)
{
    report::Annotation note;
    note.from = report::PointAnchor{event, 1 << 20};
    note.text = text;
    return note;
}

inline QByteArray bytesOf(const QString& path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

/// A window whose file dialogs answer with `chosen`.
class SessionFixture : public WindowFixture {
public:
    explicit SessionFixture(Loader::Opener opener = openRank)
        : WindowFixture(std::move(opener))
    {
        prepare();
    }

    void again()
    {
        restart();
        prepare();
    }

    SessionKeeper& keeper() { return window->keeper(); }
    NotesState& notes() { return workspace->notes; }
    NoticeBar& bar() { return *window->notices(); }
    QString said(const char* notice) { return bar().sentence(QLatin1String(notice)); }

    bool idle()
    {
        return !workspace->loader.isLoading() && !keeper().isBusy() && !workspace->diagnoser.isBusy()
            && !workspace->comparer.isLoading() && keeper().scene().isSettled();
    }
    /// Opens and waits until everything is put back, or refused.
    void show(const QString& path)
    {
        keeper().open({path});
        QTRY_VERIFY_WITH_TIMEOUT(idle(), 30000);
    }
    void save()
    {
        keeper().save();
        QTRY_VERIFY_WITH_TIMEOUT(idle(), 30000);
    }
    void press(const char* notice, const QString& button)
    {
        QPushButton* const found = bar().button(QLatin1String(notice), button);
        QVERIFY2(found, qPrintable(bar().names().join(u' ')));
        QTest::mouseClick(found, Qt::LeftButton);
        QCoreApplication::processEvents(); // what it does comes later
        QTRY_VERIFY_WITH_TIMEOUT(idle(), 30000);
    }
    report::SessionFile stored(const QString& path) const
    {
        auto read = report::readSession(pathOf(path));
        if (!read)
            qFatal("%s", read.error().message.c_str());
        return read->session;
    }

    QString chosen;
    QStringList asked; ///< what was suggested

private:
    void prepare()
    {
        keeper().setChooser([this](SessionKeeper::Ask, const QString& suggested) {
            asked << suggested;
            return chosen;
        });
    }
};

} // namespace tidemark::test
