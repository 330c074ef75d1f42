// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/render/report_pictures.hpp"

#include "app/render/picture.hpp"
#include "app/render/picture_tools.hpp"
#include "app/render/ranks_picture.hpp"
#include "widgets/compare/compare_curves.hpp"
#include "widgets/compare/compare_state.hpp"
#include "widgets/style/style.hpp"

#include <QCoreApplication>
#include <QDeadlineTimer>
#include <QFile>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QThread>

#include <functional>
#include <optional>
#include <string_view>

#include <cmath>

namespace tidemark {

QSize reportPictureSize(bool paper)
{
    return paper ? QSize(760, 360) : QSize(1000, 420);
}

namespace {

/// Families of the web's: browsers take an unknown one for any, mostly with serifs.
void nameFonts(std::string& svg)
{
    constexpr std::string_view ours = "\"Sans Serif\"";
    constexpr std::string_view theirs = "\"system-ui, sans-serif\"";
    for (std::size_t at = svg.find(ours); at != std::string::npos; at = svg.find(ours, at + theirs.size()))
        svg.replace(at, ours.size(), theirs);
}

/// Areas that cannot be seen, but say what they are of when the pointer is over them.
QByteArray withTooltips(QByteArray svg, const std::vector<NamedArea>& areas)
{
    // A title of the whole would be the tooltip of everything.
    const qsizetype title = svg.indexOf("<title>");
    const qsizetype titleEnd = svg.indexOf("</title>");
    if (title >= 0 && titleEnd > title)
        svg.remove(title, titleEnd + 8 - title);
    const qsizetype end = svg.lastIndexOf("</svg>");
    if (end < 0)
        return svg;
    QString group = QStringLiteral("<g fill=\"#000\" fill-opacity=\"0\" stroke=\"none\">\n");
    const auto number = [](double value) { return QString::number(std::round(value * 10) / 10); };
    for (const NamedArea& area : areas) {
        group += QStringLiteral("<path d=\"");
        for (qsizetype i = 0; i < area.outline.size(); ++i)
            group += (i == 0 ? QStringLiteral("M") : QStringLiteral("L")) + number(area.outline[i].x())
                + QLatin1Char(' ') + number(area.outline[i].y());
        group += QStringLiteral("Z\"><title>") + area.text.toHtmlEscaped()
            + QStringLiteral("</title></path>\n");
    }
    svg.insert(end, (group + QStringLiteral("</g>\n")).toUtf8());
    return svg;
}

/// Rows of a page at most; the table below has all of them.
constexpr int mostRanksHeight = 1100;
constexpr int comparisonPatienceMs = 60000;

std::optional<report::Picture> fromFile(const char* id, const QString& name)
{
    QFile file(name);
    if (!file.open(QIODevice::ReadOnly))
        return std::nullopt;
    report::Picture picture;
    picture.id = id;
    picture.data = file.readAll().toStdString();
    // Reading the size off the tag costs nothing; parsing the picture takes as long as drawing it.
    static const QRegularExpression box(QStringLiteral("viewBox=\"0 0 (\\d+) (\\d+)\""));
    const auto match = box.match(QString::fromUtf8(picture.data.substr(0, 1000)));
    if (!match.hasMatch())
        return std::nullopt;
    picture.width = match.captured(1).toInt();
    picture.height = match.captured(2).toInt();
    return picture;
}

bool writeRanks(const report::ReportInput& input, bool paper, const QString& file)
{
    if (!input.job || input.job->ranks.size() < 2)
        return false;
    RanksPictureRequest request;
    request.width = reportPictureSize(paper).width();
    request.height = mostRanksHeight;
    request.shrink = true;
    request.applyLook = false;
    request.title = false;
    request.annotations = input.annotations;
    request.inputNames = input.inputNames;
    int needed = 0;
    return !writeRanksPicture(input.job, request, file, &needed) && needed == 0;
}

void wait()
{
    QCoreApplication::processEvents();
    QThread::msleep(2);
}

/// Both curves and their difference, as the comparison aligns them.
bool writeComparison(const report::ReportInput& input, bool paper, const QString& file)
{
    if (!input.comparison)
        return false;
    Style style;
    style.setChoice(ThemeChoice::Light);
    NotesState notes;
    notes.reset(input.annotations);
    CompareState state;
    CompareCurves curves(state, style); // first: it takes its scale when the comparison arrives
    curves.setPalette(style.theme().palette());
    curves.setNotes(notes);
    for (const compare::Which which : {compare::Which::A, compare::Which::B}) {
        const compare::Side& side = which == compare::Which::A ? input.comparison->a : input.comparison->b;
        state.setRank(which, side.rank, side.device);
        state.session(which).setDiagnosis(side.diagnosis);
        state.setLabel(which, QString::fromStdString(side.label));
    }
    const QDeadlineTimer end(comparisonPatienceMs);
    while ((state.busy() || !state.comparison()) && !end.hasExpired())
        wait();
    if (!state.comparison())
        return false;
    const QSize size = reportPictureSize(paper);
    settle(curves, size);
    while (!curves.isExact() && !end.hasExpired())
        wait();
    if (!curves.isExact())
        return false;
    return !writeBytes(file, vectorBytes(size, [&](QPainter& painter) { curves.renderTo(painter); }));
}

std::vector<report::Picture> drawn(const char* id, const std::function<bool(const QString&)>& write)
{
    const QTemporaryDir folder;
    const QString name = folder.filePath(QLatin1String(id) + QStringLiteral(".svg"));
    std::vector<report::Picture> out;
    if (write(name))
        if (auto picture = fromFile(id, name))
            out.push_back(std::move(*picture));
    return out;
}

std::vector<report::Picture> drawnPictures(const report::PictureAsk& ask, bool paper)
{
    PictureRequest request;
    const char* id = nullptr;
    switch (ask.kind) {
    case report::PictureKind::Timeline:
        request.view = PictureView::Timeline;
        id = "timeline";
        break;
    case report::PictureKind::Segments:
        request.view = PictureView::Segments;
        id = "segments";
        break;
    case report::PictureKind::Ranks:
        return drawn("ranks", [&](const QString& file) { return writeRanks(ask.input, paper, file); });
    case report::PictureKind::Comparison:
        return drawn(
            "comparison", [&](const QString& file) { return writeComparison(ask.input, paper, file); });
    }
    request.size = reportPictureSize(paper);
    request.deviceIndex = ask.input.device;
    request.state = ask.state;
    request.applyLook = false;
    request.annotations = ask.input.annotations;
    request.input = ask.input.inputIndex;
    request.diagnosis = ask.input.diagnosis;
    request.cardBytes = ask.input.deviceTotal;
    request.trim = true;
    std::vector<NamedArea> areas;
    request.areas = paper ? nullptr : &areas;
    auto pictures = drawn(
        id, [&](const QString& file) { return !writePicture(ask.input.rank, request, file).has_value(); });
    if (!paper)
        for (report::Picture& picture : pictures)
            picture.data = withTooltips(QByteArray::fromStdString(picture.data), areas).toStdString();
    return pictures;
}

} // namespace

std::vector<report::Picture> drawReportPictures(const report::PictureAsk& ask, bool paper)
{
    std::vector<report::Picture> pictures = drawnPictures(ask, paper);
    if (!paper)
        for (report::Picture& picture : pictures)
            nameFonts(picture.data);
    return pictures;
}

} // namespace tidemark
