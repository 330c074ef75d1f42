// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/peak_bars_window.hpp"

#include "app/short_names.hpp"
#include "widgets/style/text.hpp"

#include <QClipboard>
#include <QDialogButtonBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QGuiApplication>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

namespace tidemark {

PeakBarsWindow::PeakBarsWindow(Style& style, const Loader::Opener& opener, QWidget* parent)
    : QDialog(parent)
    , m_bars(new PeakBars(style, this))
    , m_message(new QLabel(this))
    , m_add(new QPushButton(tr("Add runs…"), this))
    , m_clear(new QPushButton(tr("Clear"), this))
    , m_loader(opener)
{
    setWindowTitle(tr("Peaks of several runs – Tidemark"));
    m_message->setWordWrap(true);
    auto* copy = new QPushButton(tr("Copy"), this);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    buttons->addButton(m_add, QDialogButtonBox::ActionRole);
    buttons->addButton(m_clear, QDialogButtonBox::ActionRole);
    buttons->addButton(copy, QDialogButtonBox::ActionRole);
    auto* layout = new QVBoxLayout(this);
    layout->addWidget(m_bars, 1);
    layout->addWidget(m_message);
    layout->addWidget(buttons);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::close);
    connect(m_add, &QPushButton::clicked, this, &PeakBarsWindow::choose);
    connect(m_clear, &QPushButton::clicked, this, [this] {
        m_loader.cancel();
        m_waiting.clear();
        m_paths.clear();
        m_made.clear();
        m_problem.clear();
        m_bars->setBars({});
        say();
    });
    connect(copy, &QPushButton::clicked, this,
        [this] { QGuiApplication::clipboard()->setText(m_bars->copyText()); });
    connect(m_bars, &PeakBars::compareRequested, this, [this](std::size_t row) {
        const auto at = static_cast<qsizetype>(row);
        const auto base = static_cast<qsizetype>(m_bars->base());
        if (at != base)
            emit compareRequested(m_paths[base], m_paths[at]);
    });
    connect(&m_loader, &Loader::loaded, this,
        [this](const LoadRequest& request, const std::shared_ptr<const Rank>& rank) {
            compare::Side side;
            side.rank = rank;
            side.device = rank->mainDevice();
            if (side.device < rank->devices.size()) {
                m_made.push_back(compare::peakBars(std::span(&side, 1), 0).front());
                m_paths << request.path;
                const QStringList names = shortNames(m_paths);
                for (std::size_t i = 0; i < m_made.size(); ++i)
                    m_made[i].label = names[static_cast<qsizetype>(i)].toStdString();
                m_bars->setBars(m_made);
            } else {
                m_problem = tr("%1 has no device to compare.").arg(QFileInfo(request.path).fileName());
            }
            next();
        });
    connect(&m_loader, &Loader::failed, this, [this](const LoadRequest& request, const Error& error) {
        m_problem = QFileInfo(request.path).fileName() + QStringLiteral(": ") + shownText(error.message);
        next();
    });
    say();
}

void PeakBarsWindow::choose()
{
    add(QFileDialog::getOpenFileNames(this, tr("Runs to compare")));
}

void PeakBarsWindow::add(const QStringList& paths)
{
    m_problem.clear();
    for (const QString& path : paths) {
        if (m_paths.contains(path) || m_waiting.contains(path))
            continue;
        if (static_cast<std::size_t>(m_paths.size() + m_waiting.size()) >= compare::maxRuns) {
            m_problem = tr("There is room for %1 runs; the others were left out.").arg(compare::maxRuns);
            break;
        }
        m_waiting << path;
    }
    next();
}

void PeakBarsWindow::next()
{
    if (!m_loader.isLoading() && !m_waiting.isEmpty())
        m_loader.open({m_waiting.takeFirst(), {}, false});
    say();
}

void PeakBarsWindow::say()
{
    QStringList parts;
    if (m_loader.isLoading())
        parts << tr("Reading %1…").arg(QFileInfo(m_loader.request().path).fileName());
    if (!m_problem.isEmpty())
        parts << m_problem;
    if (parts.isEmpty())
        parts << (m_paths.isEmpty()
                ? tr("Add up to %1 runs to see their peaks beside each other.").arg(compare::maxRuns)
                : tr("Solid: live at the peak; hatched: reserved. Click a run to hold the others against it, "
                     "double click to compare it with the base."));
    m_message->setText(parts.join(QLatin1Char(' ')));
    m_clear->setEnabled(!m_paths.isEmpty() || m_loader.isLoading());
}

QString PeakBarsWindow::message() const
{
    return m_message->text();
}

} // namespace tidemark
