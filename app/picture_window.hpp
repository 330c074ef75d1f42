// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/render/picture_title.hpp"
#include "widgets/style/style.hpp"

#include <QDialog>
#include <QImage>
#include <QString>

#include <functional>
#include <vector>

class QCheckBox;
class QComboBox;
class QLabel;
class QPushButton;
class QSpinBox;

namespace tidemark {

/// A view that can be saved or copied as a picture, as it is on screen.
struct PictureSource {
    QString name; ///< "Segment map"
    QString id; ///< "segments", for file names
    QWidget* view = nullptr; ///< what is shown of it decides the size
    /// Paints it with its corner at (0, `above`); empty: the widget is rendered. A timeline paints on devices
    /// and has `paintOn` instead.
    std::function<void(QPainter& painter, double ratio)> paint;
    std::function<void(QPaintDevice& device, QSize size, double scale,
        const std::function<void(QPainter&)>& above, int aboveHeight)>
        paintOn;
};

QImage pictureOf(const PictureSource& source, const Style& style, const PictureTitle* title, double scale);
/// The format follows the name's ending (.png, .svg). Returns a sentence when it fails.
QString writePictureOf(const PictureSource& source, const Style& style, const PictureTitle* title,
    double scale, const QString& file);

/// Which view, how large, with a title or not; then save or copy. GUI thread.
class PictureWindow : public QDialog {
    Q_OBJECT
public:
    /// `sources` and `title` are asked whenever they are needed.
    PictureWindow(std::function<std::vector<PictureSource>()> sources, std::function<PictureTitle()> title,
        Style& style, QWidget* parent = nullptr);

    /// Opens with the view chosen whose id this is, where it can be.
    void open(const QString& id);
    using QDialog::open;

    QComboBox& views() { return *m_view; }
    QSpinBox& scale() { return *m_scale; }
    QCheckBox& titled() { return *m_titled; }
    /// Writes what is chosen; a sentence when it fails.
    QString save(const QString& file);
    void copy();

signals:
    /// A file is to be chosen; `name` is proposed.
    void saveRequested(const QString& name);
    void copied();

private:
    std::optional<PictureSource> chosen() const;
    void refresh();

    std::function<std::vector<PictureSource>()> m_sources;
    std::function<PictureTitle()> m_title;
    Style& m_style;
    QComboBox* m_view;
    QSpinBox* m_scale;
    QCheckBox* m_titled;
    QLabel* m_size;
    QPushButton* m_save;
    QPushButton* m_copy;
};

} // namespace tidemark
