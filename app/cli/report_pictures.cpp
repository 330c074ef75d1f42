// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/report_pictures.hpp"

#include "app/cli/offscreen_gui.hpp"
#include "app/render/picture.hpp"

#include <QFile>
#include <QTemporaryDir>

namespace tidemark {

namespace {

class ViewPictures : public report::Pictures {
public:
    std::vector<report::Picture> draw(const report::PictureAsk& ask) override
    {
        switch (ask.kind) {
        case report::PictureKind::Timeline:
            return one(ask, PictureView::Timeline, QSize(1000, 420), "timeline");
        case report::PictureKind::Segments:
            return one(ask, PictureView::Segments, QSize(1000, 420), "segments");
        default:
            return {};
        }
    }

private:
    std::vector<report::Picture> one(
        const report::PictureAsk& ask, PictureView view, QSize size, const char* id)
    {
        PictureRequest request;
        request.view = view;
        request.size = size;
        request.deviceIndex = ask.input.device;
        request.state = ask.state;
        request.annotations = ask.input.annotations;
        request.input = ask.input.inputIndex;
        const QString name = m_folder.filePath(QLatin1String(id) + QStringLiteral(".svg"));
        QFile file(name);
        if (writePicture(ask.input.rank, request, name) || !file.open(QIODevice::ReadOnly))
            return {};
        report::Picture picture;
        picture.id = id;
        picture.data = file.readAll().toStdString();
        picture.width = size.width();
        picture.height = size.height();
        return {std::move(picture)};
    }

    OffscreenGui m_gui;
    QTemporaryDir m_folder;
};

} // namespace

std::unique_ptr<report::Pictures> viewPictures()
{
    return std::make_unique<ViewPictures>();
}

} // namespace tidemark
