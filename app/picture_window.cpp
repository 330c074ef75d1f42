// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/picture_window.hpp"

#include "widgets/style/text.hpp"

#include <QBuffer>
#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QGuiApplication>
#include <QLabel>
#include <QPushButton>
#include <QSaveFile>
#include <QSpinBox>
#include <QSvgGenerator>

#include <algorithm>

namespace tidemark {

namespace {

constexpr int largestScale = 4;

void paintSource(const PictureSource& source, const Style& style, const PictureTitle* title,
    QPaintDevice& device, double scale, bool pixels)
{
    const QSize size = source.view->size();
    const int above = title ? PictureTitle::height(style) : 0;
    const auto paintTitle = [&](QPainter& painter) {
        if (title)
            title->paint(painter, style, size.width());
    };
    if (source.paintOn) {
        source.paintOn(device, size, pixels ? scale : 1, paintTitle, above);
        return;
    }
    QPainter painter(&device);
    if (pixels)
        painter.scale(scale, scale);
    paintTitle(painter);
    if (source.paint) {
        painter.translate(0, above);
        source.paint(painter, pixels ? scale : 1);
    } else {
        source.view->render(&painter, QPoint(0, above));
    }
}

QSize wholeSize(const PictureSource& source, const Style& style, const PictureTitle* title)
{
    return source.view->size() + QSize(0, title ? PictureTitle::height(style) : 0);
}

} // namespace

QImage pictureOf(const PictureSource& source, const Style& style, const PictureTitle* title, double scale)
{
    QImage image((QSizeF(wholeSize(source, style, title)) * scale).toSize(), QImage::Format_RGB32);
    image.fill(style.color(Tone::Base));
    paintSource(source, style, title, image, scale, true);
    return image;
}

QString writePictureOf(const PictureSource& source, const Style& style, const PictureTitle* title,
    double scale, const QString& file)
{
    QByteArray bytes;
    QBuffer buffer(&bytes);
    if (file.endsWith(QLatin1String(".svg"), Qt::CaseInsensitive)) {
        const QSize size = wholeSize(source, style, title);
        QSvgGenerator generator;
        generator.setOutputDevice(&buffer);
        generator.setResolution(96);
        generator.setSize(size);
        generator.setViewBox(QRect(QPoint(0, 0), size));
        generator.setTitle(title ? title->name : source.name);
        paintSource(source, style, title, generator, 1, false);
    } else {
        buffer.open(QIODevice::WriteOnly);
        pictureOf(source, style, title, scale).save(&buffer, "PNG");
    }
    QSaveFile out(file);
    if (out.open(QIODevice::WriteOnly) && out.write(bytes) == bytes.size() && out.commit())
        return {};
    return PictureWindow::tr("%1 cannot be written: %2.").arg(file, out.errorString());
}

PictureWindow::PictureWindow(std::function<std::vector<PictureSource>()> sources,
    std::function<PictureTitle()> title, Style& style, QWidget* parent)
    : QDialog(parent)
    , m_sources(std::move(sources))
    , m_title(std::move(title))
    , m_style(style)
    , m_view(new QComboBox(this))
    , m_scale(new QSpinBox(this))
    , m_titled(new QCheckBox(tr("A line above with the file, the moment and the totals"), this))
    , m_size(new QLabel(this))
{
    setWindowTitle(tr("Picture of a view"));
    m_view->setAccessibleName(tr("View"));
    m_scale->setRange(1, largestScale);
    m_scale->setValue(2);
    m_scale->setSuffix(QStringLiteral("\u2009×"));
    m_scale->setAccessibleName(tr("Pixels of a PNG per pixel of the screen"));
    m_titled->setChecked(true);
    auto* form = new QFormLayout(this);
    form->addRow(tr("View"), m_view);
    form->addRow(tr("Size of a PNG"), m_scale);
    form->addRow(QString(), m_titled);
    form->addRow(QString(), m_size);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    m_save = buttons->addButton(tr("Save…"), QDialogButtonBox::AcceptRole);
    m_copy = buttons->addButton(tr("Copy"), QDialogButtonBox::ActionRole);
    form->addRow(buttons);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::close);
    connect(m_copy, &QPushButton::clicked, this, &PictureWindow::copy);
    connect(m_save, &QPushButton::clicked, this, [this] {
        if (const auto source = chosen())
            emit saveRequested(source->id);
    });
    connect(m_view, &QComboBox::currentIndexChanged, this, &PictureWindow::refresh);
    connect(m_scale, &QSpinBox::valueChanged, this, &PictureWindow::refresh);
    connect(m_titled, &QCheckBox::toggled, this, &PictureWindow::refresh);
}

void PictureWindow::open(const QString& id)
{
    m_view->clear();
    for (const PictureSource& source : m_sources())
        m_view->addItem(source.name, source.id);
    m_view->setCurrentIndex(std::max(0, m_view->findData(id)));
    refresh();
    show();
    raise();
    activateWindow();
}

std::optional<PictureSource> PictureWindow::chosen() const
{
    for (PictureSource& source : m_sources())
        if (source.id == m_view->currentData().toString())
            return std::move(source);
    return std::nullopt;
}

void PictureWindow::refresh()
{
    const auto source = chosen();
    m_save->setEnabled(source.has_value());
    m_copy->setEnabled(source.has_value());
    if (!source) {
        m_size->setText(tr("No view is open."));
        return;
    }
    const PictureTitle title;
    const QSize size
        = wholeSize(*source, m_style, m_titled->isChecked() ? &title : nullptr) * m_scale->value();
    m_size->setText(tr("%1 × %2 pixels; an SVG has no pixels")
                        .arg(countText(static_cast<std::int64_t>(size.width())),
                            countText(static_cast<std::int64_t>(size.height()))));
}

QString PictureWindow::save(const QString& file)
{
    const auto source = chosen();
    if (!source)
        return tr("The view is not open any more.");
    const PictureTitle title = m_title();
    return writePictureOf(*source, m_style, m_titled->isChecked() ? &title : nullptr, m_scale->value(), file);
}

void PictureWindow::copy()
{
    const auto source = chosen();
    if (!source)
        return;
    const PictureTitle title = m_title();
    QGuiApplication::clipboard()->setImage(
        pictureOf(*source, m_style, m_titled->isChecked() ? &title : nullptr, m_scale->value()));
    emit copied();
}

} // namespace tidemark
