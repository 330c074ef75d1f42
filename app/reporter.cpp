// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/reporter.hpp"

#include "app/render/report_pictures.hpp"
#include "app/version.hpp"
#include "model/job/run_texts.hpp"
#include "model/report/exporter.hpp"
#include "widgets/style/text.hpp"

#include <QClipboard>
#include <QFileInfo>
#include <QGuiApplication>

#include <algorithm>
#include <filesystem>

namespace tidemark {

namespace {

bool isAbout(const compare::Comparison& comparison, const std::shared_ptr<const Rank>& rank)
{
    return comparison.a.rank == rank || comparison.b.rank == rank;
}

/// A file that was added later is none of the run's.
bool names(const SummarisedJob& job, const std::string& path)
{
    std::error_code ignored;
    return std::any_of(job.ranks.begin(), job.ranks.end(), [&](const RankSummary& rank) {
        return rank.file == path || std::filesystem::equivalent(rank.file, path, ignored);
    });
}

} // namespace

Reporter::Reporter(Workspace& work, QObject* parent)
    : QObject(parent)
    , m_work(work)
    , m_task([this](Written&& written) { take(std::move(written)); })
{
    const Session& session = work.session;
    for (const auto signal : {&Session::opened, &Session::deviceChanged, &Session::cardSizeChanged})
        connect(&session, signal, this, &Reporter::inputChanged);
    connect(&session, &Session::diagnosisChanged, this, [this] {
        rememberRow();
        emit inputChanged();
    });
    connect(&work.notes, &NotesState::changed, this, &Reporter::inputChanged);
    connect(&work.comparer.state(), &CompareState::changed, this, &Reporter::inputChanged);
}

std::optional<report::ReportInput> Reporter::input() const
{
    const Session& session = m_work.session;
    if (!session.rank())
        return std::nullopt;
    report::ReportInput input;
    input.rank = session.rank();
    input.device = session.deviceIndex();
    input.diagnosis = session.diagnosis();
    input.deviceTotal = session.cardSize();
    if (const auto comparison = m_work.comparer.state().comparison();
        comparison && isAbout(*comparison, input.rank))
        input.comparison = comparison;
    input.ranks = rows();
    if (const auto job = m_jobSource ? m_jobSource() : nullptr;
        job && names(*job, input.rank->snapshot->source.path))
        addJob(input, job);
    input.annotations = m_work.notes.items();
    input.inputIndex = static_cast<std::uint32_t>(m_work.files.current().value_or(0));
    for (const Files::Entry& entry : m_work.files.entries())
        input.inputNames.push_back(QFileInfo(entry.path).fileName().toStdString());
    input.program = std::string("tidemark ") + versionText();
    return input;
}

std::vector<report::Picture> Reporter::draw(const report::PictureAsk& ask) const
{
    return drawReportPictures(ask, true);
}

void Reporter::rememberRow()
{
    const auto diagnosis = m_work.session.diagnosis();
    const auto current = m_work.files.current();
    if (diagnosis && current && !diagnosis->rank->devices.empty())
        m_rows[m_work.files.entries()[*current].path] = report::rankRow(*diagnosis);
}

// Files that were opened together are read when they are looked at: the others say so.
std::vector<report::RankRow> Reporter::rows() const
{
    const std::vector<Files::Entry>& entries = m_work.files.entries();
    std::vector<report::RankRow> out;
    std::size_t known = 0;
    for (const Files::Entry& entry : entries) {
        if (const auto found = m_rows.find(entry.path); found != m_rows.end()) {
            out.push_back(found->second);
            ++known;
            continue;
        }
        report::RankRow row;
        row.name = QFileInfo(entry.path).fileName().toStdString();
        row.rank = rankFromName(row.name);
        row.problem = entry.problem.isEmpty() ? "It has not been looked at." : entry.problem.toStdString();
        out.push_back(std::move(row));
    }
    // One known row is what the report is about anyway.
    return known > 1 ? out : std::vector<report::RankRow>();
}

void Reporter::write(const report::ReportWish& wish, Paper paper, const QString& file)
{
    auto about = input();
    const ReportFormat* format = reportFormatFor(file.toStdString());
    if (!about || format == nullptr) {
        emit finished(!about ? tr("No file is open")
                             : tr("A report's name ends in %1").arg(shownText(reportExtensions())));
        return;
    }
    for (const Files::Entry& entry : m_work.files.entries())
        if (QFileInfo(entry.path) == QFileInfo(file)) {
            emit failed(tr("%1 is a file this report is about: choose another name")
                            .arg(shownText(QFileInfo(file).fileName().toStdString())));
            return;
        }
    Order order;
    order.input = std::move(*about);
    order.wish = wish;
    order.paper = paper;
    order.file = file;
    order.format = format;
    add(std::move(order));
}

void Reporter::copyMarkdown(const report::ReportWish& wish)
{
    auto about = input();
    if (!about)
        return;
    Order order;
    order.input = std::move(*about);
    order.wish = wish;
    order.format = reportFormatFor("report.md");
    add(std::move(order));
}

void Reporter::add(Order order)
{
    m_waiting.push_back(std::move(order));
    if (!m_current)
        next();
}

void Reporter::next()
{
    if (m_waiting.empty())
        return;
    m_current = std::move(m_waiting.front());
    m_waiting.pop_front();
    emit started(tr("Writing the report"));
    QMetaObject::invokeMethod(this, &Reporter::drawNext, Qt::QueuedConnection);
}

void Reporter::drawNext()
{
    Order& order = *m_current;
    const auto kind
        = order.format->pictures ? order.drawn.missing(order.input, order.wish.parts) : std::nullopt;
    if (!kind) {
        write();
        return;
    }
    order.drawn.put(*kind, ReadyPictures::draw(*kind, order.input, [&order](const report::PictureAsk& ask) {
        return drawReportPictures(ask, order.format->paper);
    }));
    QMetaObject::invokeMethod(this, &Reporter::drawNext, Qt::QueuedConnection);
}

void Reporter::write()
{
    m_task.request([order = *m_current](const Job& job) mutable {
        Written written;
        const auto document = report::buildReport(order.input, order.wish, &order.drawn, job);
        if (!document)
            return written;
        const std::string bytes = order.format->write(*document, order.paper, job);
        if (order.file.isEmpty()) {
            written.text = QString::fromStdString(bytes);
            written.remark = tr("Copied as Markdown");
        } else if (const auto done = report::writeWhole(order.file.toStdString(), bytes); !done) {
            written.problem = shownText(done.error().message);
        } else {
            written.remark = tr("Wrote %1").arg(shownText(QFileInfo(order.file).fileName().toStdString()));
        }
        return written;
    });
}

void Reporter::take(Written&& written)
{
    if (!written.text.isEmpty())
        QGuiApplication::clipboard()->setText(written.text);
    m_current.reset();
    if (!written.problem.isEmpty())
        emit failed(written.problem);
    emit finished(written.remark);
    next();
}

QString Reporter::filters()
{
    QStringList out;
    for (const ReportFormat& each : reportFormats())
        out << tr("%1 report (*%2)")
                   .arg(QString::fromStdString(each.name), QString::fromStdString(each.extension));
    return out.join(QStringLiteral(";;"));
}

QString Reporter::withEnding(const QString& file, const QString& filter)
{
    if (file.isEmpty() || reportFormatFor(file.toStdString()) != nullptr)
        return file;
    for (const ReportFormat& each : reportFormats())
        if (filter.contains(QLatin1Char('*') + QString::fromStdString(each.extension)))
            return file + QString::fromStdString(each.extension);
    return file + QStringLiteral(".html");
}

} // namespace tidemark
