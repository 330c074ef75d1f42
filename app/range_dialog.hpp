// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/formats/reader.hpp"
#include "widgets/style/style.hpp"

#include <QDialog>
#include <QString>

#include <cstdint>
#include <optional>

class QDialogButtonBox;
class QDoubleSpinBox;
class QLabel;
class QPushButton;
class QRadioButton;

namespace tidemark {

/// Asks which events of a file to open: all, the first or last ones, or from one to another. The rest of the
/// file is read but not kept. GUI thread.
class RangeDialog : public QDialog {
    Q_OBJECT
public:
    /// What is known of the file before it is read.
    struct File {
        QString path;
        std::uint64_t bytes = 0;
        /// Counted when the file was read before; else estimated from its size, or unknown when it is packed.
        std::optional<std::uint64_t> events;
        bool counted = false;
    };

    explicit RangeDialog(const Style& style, QWidget* parent = nullptr);

    /// Shows the choice for a file, beginning with `current`.
    void ask(const File& file, const ReadOptions& current);
    /// As the controls stand.
    ReadOptions wish() const;
    /// The file as it lies there, with an estimate of its events.
    static File fileOf(const QString& path);

    QRadioButton* allButton() const { return m_all; }
    QRadioButton* firstButton() const { return m_first; }
    QRadioButton* lastButton() const { return m_last; }
    QRadioButton* betweenButton() const { return m_between; }
    QDoubleSpinBox* firstCount() const { return m_firstCount; }
    QDoubleSpinBox* lastCount() const { return m_lastCount; }
    QDoubleSpinBox* from() const { return m_from; }
    QDoubleSpinBox* to() const { return m_to; }
    QLabel* needLabel() const { return m_need; }
    QPushButton* openButton() const;

signals:
    void chosen(const QString& path, const tidemark::ReadOptions& options);
    void otherFileRequested();

private:
    void update();
    std::optional<std::uint64_t> wishedEvents() const;

    const Style& m_style;
    File m_file;
    ReadOptions m_options;
    QLabel* m_name;
    QLabel* m_size;
    QRadioButton* m_all;
    QRadioButton* m_first;
    QRadioButton* m_last;
    QRadioButton* m_between;
    QDoubleSpinBox* m_firstCount;
    QDoubleSpinBox* m_lastCount;
    QDoubleSpinBox* m_from;
    QDoubleSpinBox* m_to;
    QLabel* m_need;
    QDialogButtonBox* m_buttons;
};

} // namespace tidemark
