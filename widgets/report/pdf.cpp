// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/report/pdf.hpp"

#include <QBuffer>
#include <QHashSeed>
#include <QPageLayout>
#include <QPageSize>
#include <QPainter>
#include <QPdfWriter>

namespace tidemark {

namespace {

constexpr int resolution = 1200; // device units per inch

/// Tables inside of the writer are walked in an order that hangs on the process's hash seed.
class SteadyHashes {
public:
    SteadyHashes() { QHashSeed::setDeterministicGlobalSeed(); }
    ~SteadyHashes() { QHashSeed::resetRandomGlobalSeed(); }
    SteadyHashes(const SteadyHashes&) = delete;
    SteadyHashes& operator=(const SteadyHashes&) = delete;
};

/// Puts a fixed date over the one the writer took from the clock; no byte moves.
void forgetDate(QByteArray& pdf)
{
    const QByteArray key("/CreationDate (D:");
    for (qsizetype at = pdf.indexOf(key); at >= 0; at = pdf.indexOf(key, at + 1)) {
        const qsizetype from = at + key.size();
        const qsizetype end = pdf.indexOf(')', from);
        if (end < 0)
            return;
        const QByteArray fixed = QByteArray("20000101000000Z00'00'").leftJustified(end - from, '\'', true);
        pdf.replace(from, end - from, fixed);
    }
}

} // namespace

std::string writePdf(const report::Document& document, Paper paper, const Job& job)
{
    const auto pages = PagedReport::layOut(document, paper, job);
    if (!pages)
        return {};
    const SteadyHashes steady;
    QByteArray pdf;
    QBuffer buffer(&pdf);
    buffer.open(QIODevice::WriteOnly);
    {
        QPdfWriter writer(&buffer);
        writer.setTitle(QString::fromStdString(document.title));
        writer.setCreator(QStringLiteral("Tidemark"));
        writer.setResolution(resolution);
        writer.setPageLayout(QPageLayout(QPageSize(paper == Paper::A4 ? QPageSize::A4 : QPageSize::Letter),
            QPageLayout::Portrait, QMarginsF(0, 0, 0, 0)));
        QPainter painter(&writer);
        for (int i = 0; i < pages->pageCount(); ++i) {
            if (job.stopped())
                break;
            if (i > 0)
                writer.newPage();
            painter.save();
            painter.scale(resolution / 72.0, resolution / 72.0);
            pages->paint(painter, i);
            painter.restore();
        }
    }
    if (job.stopped())
        return {};
    forgetDate(pdf);
    return pdf.toStdString();
}

} // namespace tidemark
