// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/report/report.hpp"
#include "widgets/report/paged_report.hpp"

#include <QWidget>

class QCheckBox;
class QComboBox;
class QLabel;
class QLineEdit;
class QListWidget;
class QListWidgetItem;
class QPlainTextEdit;
class QPushButton;
class QSpinBox;
class QVBoxLayout;

namespace tidemark {

class Segmented;
class Style;

/// What is to be in a report: title and summary, parts and their order, how many rows, which paper, what is
/// taken out before it is shared. GUI thread.
class ReportOptions : public QWidget {
    Q_OBJECT
public:
    explicit ReportOptions(Style& style, QWidget* parent = nullptr);

    report::ReportWish wish() const;
    /// Emits nothing.
    void setWish(const report::ReportWish& wish);
    Paper paper() const;
    void setPaper(Paper paper);
    /// What stands where no title or summary is written.
    void setVerdict(const QString& title, const QString& why);

    QListWidget& parts() { return *m_parts; }

signals:
    /// wish() or paper().
    void changed();
    /// To see what redaction takes out.
    void removedRequested();

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    QLabel* addCaption(QVBoxLayout& column, const QString& text, QWidget* of);
    QWidget* makeRedaction();
    void moveCurrent(int by);
    void fillParts(const std::vector<report::Part>& wanted);
    void setRedaction(const report::Redaction& redaction);
    report::Redaction redaction() const;
    void followRedact();
    void restyle();

    Style& m_style;
    QLineEdit* m_title;
    QPlainTextEdit* m_summary;
    QListWidget* m_parts;
    QLabel* m_hint;
    QSpinBox* m_rows;
    Segmented* m_paper;
    QCheckBox* m_redact;
    QWidget* m_details = nullptr;
    QComboBox* m_paths = nullptr;
    QCheckBox* m_functions = nullptr;
    QCheckBox* m_identities = nullptr;
    QCheckBox* m_metadata = nullptr;
    QPushButton* m_removed = nullptr;
    std::vector<QLabel*> m_captions;
    bool m_filling = false;
};

/// "What to do", "Figures", …: a part as people read it.
QString partTitle(report::Part part);

} // namespace tidemark
