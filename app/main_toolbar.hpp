// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/commands.hpp"
#include "app/files.hpp"
#include "app/search_field.hpp"
#include "widgets/session.hpp"
#include "widgets/style/style.hpp"
#include "widgets/view_state.hpp"

#include <QToolBar>

class QComboBox;
class QLabel;

namespace tidemark {

class Segmented;

/// The toolbar: files, history, device, colour, x axis, peaks, tools, zoom and the filter field. GUI thread.
class MainToolbar : public QToolBar {
    Q_OBJECT
public:
    MainToolbar(Session& session, ViewState& state, Files& files, Search& search, const Commands& commands,
        const Style& style, QWidget* parent);

    /// Colour goes to the View menu, the filter field gets short.
    void setNarrow(bool narrow);

    QComboBox* deviceChooser() const { return m_device; }
    QComboBox* fileChooser() const { return m_file; }
    QComboBox* colourChooser() const { return m_colour; }
    Segmented* axisChooser() const { return m_axis; }
    SearchField* filterField() const { return m_filter; }

    /// Colourings that say something about the open device.
    static std::vector<ColourBy> colourings(const Replay* replay, bool labelled);
    static QString colourName(ColourBy by);
    static bool hasTimes(const Replay* replay);

signals:
    void axisChosen(tidemark::XAxis axis);

private:
    void addCommand(const Commands& commands, const char* id);
    void fillDevices();
    void fillFiles();
    void fillColours();
    void followAxis();
    void restyle();

    Session& m_session;
    ViewState& m_state;
    Files& m_files;
    const Style& m_style;
    QComboBox* m_file;
    QComboBox* m_device;
    QLabel* m_colourLabel;
    QComboBox* m_colour;
    QAction* m_fileAction = nullptr;
    QAction* m_colourLabelAction = nullptr;
    QAction* m_colourAction = nullptr;
    Segmented* m_axis;
    SearchField* m_filter;
    bool m_narrow = false;
};

} // namespace tidemark
