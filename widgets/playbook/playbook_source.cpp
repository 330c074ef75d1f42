// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/playbook/playbook_source.hpp"

#include "widgets/style/text.hpp"

#include <QCoreApplication>
#include <QRegularExpression>

#include <algorithm>
#include <cmath>
#include <utility>

namespace tidemark {

namespace {

QString tr(const char* text)
{
    return QCoreApplication::translate("Playbook", text);
}

QString of(const std::string& text)
{
    return QString::fromStdString(text);
}

void add(PageRow& row, const QString& label, const std::string& text, bool code = false)
{
    if (!text.empty())
        row.fields.push_back({label, of(text), code});
}

/// Ids of settings checks that a text names ("Check C-06").
std::vector<std::string> checksIn(const std::string& text)
{
    static const QRegularExpression id(QStringLiteral("\\bC-\\d\\d\\b"));
    std::vector<std::string> out;
    for (auto it = id.globalMatch(of(text)); it.hasNext();)
        out.push_back(it.next().captured().toStdString());
    return out;
}

PageSection steps(const Playbook& playbook)
{
    PageSection section;
    section.anchor = QStringLiteral("steps");
    section.title = tr("Decision steps");
    section.intro = tr("In the order in which they are tried. One change at a time.");
    for (const PlaybookStep& step : playbook.steps()) {
        PageRow row;
        row.id = of(step.id);
        row.title = of(step.title);
        row.rules = step.rules;
        // One rule serves two steps and says by its label which one it means.
        row.label = step.id == "S3" ? "core_attn" : step.id == "S6" ? "mlp" : "";
        add(row, tr("do"), step.action);
        add(row, tr("when"), step.when);
        QStringList keys;
        for (const std::string& key : step.keys)
            keys << of(key);
        if (!keys.isEmpty())
            row.fields.push_back({tr("settings"), keys.join(QStringLiteral(", ")), true});
        if (!step.cost.empty())
            row.fields.push_back(
                {tr("cost"), tr("%1 (grade %2)").arg(of(step.cost), QChar::fromLatin1(step.grade)), false});
        add(row, tr("source"), step.source);
        section.rows.push_back(std::move(row));
    }
    return section;
}

/// Symptoms whose ids begin with a letter: D is the diagnosis table, R what is related.
PageSection symptoms(const Playbook& playbook, char kind, const QString& anchor, const QString& title)
{
    PageSection section;
    section.anchor = anchor;
    section.title = title;
    for (const PlaybookRow& symptom : playbook.rows()) {
        if (symptom.id.empty() || symptom.id.front() != kind)
            continue;
        PageRow row;
        row.id = of(symptom.id);
        row.title = of(symptom.symptom);
        row.rules = symptom.rules;
        // A candidate for recompute is no sign that recompute went wrong, unless the finding says so by name.
        if (kind == 'R')
            row.rules.erase(
                std::remove(row.rules.begin(), row.rules.end(), "recompute-candidate"), row.rules.end());
        row.checks = checksIn(symptom.confirm);
        add(row, tr("cause"), symptom.cause);
        add(row, tr("confirm"), symptom.confirm);
        add(row, tr("do"), symptom.action);
        add(row, tr("source"), symptom.source);
        section.rows.push_back(std::move(row));
    }
    return section;
}

PageSection labels(const Playbook& playbook)
{
    PageSection section;
    section.anchor = QStringLiteral("labels");
    section.title = tr("Recompute labels");
    section.intro
        = tr("Values of model.recompute_modules. Savings do not add up; labels belong to a revision.");
    for (const RecomputeLabel& label : playbook.labels()) {
        PageRow row;
        row.title = of(label.name);
        row.rules = {"recompute-candidate"};
        row.label = label.name;
        add(row, tr("boundary"), label.boundary, true);
        add(row, tr("mechanism"), label.mechanism);
        add(row, tr("frees"), label.frees);
        add(row, tr("when"), label.when);
        add(row, tr("cost"), label.cost);
        if (!label.pinned)
            row.fields.push_back(
                {tr("revision"), tr("newer than the Megatron-Core that Megatron Bridge pins"), false});
        add(row, tr("source"), label.source);
        section.rows.push_back(std::move(row));
    }
    return section;
}

PageSection notes(
    const Playbook& playbook, PlaybookNote::Kind kind, const QString& anchor, const QString& title)
{
    PageSection section;
    section.anchor = anchor;
    section.title = title;
    for (const PlaybookNote& note : playbook.notes()) {
        if (note.kind != kind)
            continue;
        PageRow row;
        row.title = of(note.title);
        row.checks
            = kind == PlaybookNote::Kind::Constraint ? checksIn(note.text) : std::vector<std::string>{};
        row.command = of(note.command);
        add(row, tr("says"), note.text);
        add(row, tr("source"), note.source);
        section.rows.push_back(std::move(row));
    }
    return section;
}

// ---- measured results

QString studyTitle(const std::string& study)
{
    static const std::vector<std::pair<std::string, const char*>> known
        = {{"llama3-70b-sft", "Llama3-70B SFT: splits, recompute, expandable segments"},
            {"lora-regather", "LoRA with sequence parallelism: inputs gathered again"},
            {"moonlight-16b-recompute", "Moonlight-16B: recompute labels"},
            {"nemotron-3-nano-recompute", "Nemotron-3-Nano: recompute labels"},
            {"optimizer-offload", "Optimizer offloaded to the CPU"},
            {"layer-offload", "Layers offloaded to the CPU"}, {"cuda-graphs", "CUDA graphs"},
            {"other", "Single results"}};
    for (const auto& [id, title] : known)
        if (id == study)
            return tr(title);
    return of(study).replace(QLatin1Char('-'), QLatin1Char(' '));
}

QString figureText(double value)
{
    const bool whole = value == std::floor(value);
    QString text = whole && std::abs(value) >= 1000 ? countText(static_cast<std::int64_t>(value))
                                                    : QString::number(value, 'g', 10);
    return text.replace(QLatin1Char('-'), QChar(0x2212));
}

/// What all of some texts begin with, up to its last separator.
QString commonStart(const QStringList& texts)
{
    if (texts.size() < 2)
        return {};
    QString start = texts.first();
    for (const QString& text : texts) {
        qsizetype same = 0;
        while (same < start.size() && same < text.size() && start[same] == text[same])
            ++same;
        start.truncate(same);
    }
    const qsizetype end
        = std::max(start.lastIndexOf(QStringLiteral("; ")), start.lastIndexOf(QStringLiteral(", ")));
    return end < 0 ? QString() : start.left(end + 2);
}

class Study {
public:
    explicit Study(std::vector<const MeasuredResult*> results)
        : m_results(std::move(results))
    {
        for (const MeasuredResult* result : m_results)
            for (const MeasuredResult::Figure& figure : result->figures)
                if (std::find(m_figures.begin(), m_figures.end(), keyOf(figure)) == m_figures.end())
                    m_figures.push_back(keyOf(figure));
    }

    PageTable table() const
    {
        PageTable table;
        table.title = studyTitle(m_results.front()->study);
        QStringList configurations;
        for (const MeasuredResult* result : m_results)
            configurations << of(result->configuration);
        const QString common = commonStart(configurations);
        const bool model = share(table, tr("model"), &MeasuredResult::model);
        const bool hardware = share(table, tr("hardware"), &MeasuredResult::hardware);
        if (!common.isEmpty())
            table.context.push_back({tr("configuration"), common.left(common.size() - 2), false});
        const bool source = share(table, tr("source"), &MeasuredResult::source);
        const auto column = [&](const QString& name, bool figures) {
            table.columns << name;
            table.figures.push_back(figures);
        };
        if (!model)
            column(tr("model"), false);
        if (!hardware)
            column(tr("hardware"), false);
        column(tr("configuration"), false);
        for (const Key& key : m_figures)
            column(key.second == "1" ? of(key.first) : tr("%1, %2").arg(of(key.first), of(key.second)), true);
        column(tr("outcome"), false);
        if (!source)
            column(tr("source"), false);
        for (int i = 0; i < configurations.size(); ++i) {
            const MeasuredResult& result = *m_results[static_cast<std::size_t>(i)];
            QStringList row;
            if (!model)
                row << of(result.model);
            if (!hardware)
                row << of(result.hardware);
            row << configurations[i].mid(common.size());
            for (const Key& key : m_figures) {
                const auto value = result.figure(key.first, key.second);
                row << (value ? figureText(*value) : QStringLiteral("–"));
            }
            row << of(result.outcome);
            if (!source)
                row << of(result.source);
            table.rows.push_back(row);
        }
        return table;
    }

private:
    using Key = std::pair<std::string, std::string>;
    static Key keyOf(const MeasuredResult::Figure& figure) { return {figure.name, figure.unit}; }
    /// Says once what is the same in every row; false where it is not.
    bool share(PageTable& table, const QString& label, std::string MeasuredResult::*field) const
    {
        const std::string& first = m_results.front()->*field;
        if (std::any_of(m_results.begin(), m_results.end(),
                [&](const MeasuredResult* result) { return result->*field != first; }))
            return false;
        if (!first.empty())
            table.context.push_back({label, of(first), false});
        return true;
    }

    std::vector<const MeasuredResult*> m_results;
    std::vector<Key> m_figures;
};

PageSection measured(const Playbook& playbook)
{
    PageSection section;
    section.anchor = QStringLiteral("measured");
    section.title = tr("Measured results");
    section.intro = tr(
        "Measured elsewhere (grade C): other models, other cards. GB is 10\u2079 bytes, GiB 2\u00b3\u2070.");
    std::vector<std::string> studies;
    for (const MeasuredResult& result : playbook.results())
        if (std::find(studies.begin(), studies.end(), result.study) == studies.end())
            studies.push_back(result.study);
    for (const std::string& study : studies) {
        std::vector<const MeasuredResult*> results;
        for (const MeasuredResult& result : playbook.results())
            if (result.study == study)
                results.push_back(&result);
        section.tables.push_back(Study(std::move(results)).table());
    }
    return section;
}

} // namespace

PlaybookPage playbookPage(const Playbook& playbook)
{
    using Kind = PlaybookNote::Kind;
    PlaybookPage page;
    page.sections = {steps(playbook), symptoms(playbook, 'D', QStringLiteral("diagnosis"), tr("Diagnosis")),
        symptoms(playbook, 'R', QStringLiteral("related"), tr("Related rows")), labels(playbook),
        measured(playbook),
        notes(playbook, Kind::Constraint, QStringLiteral("constraints"), tr("Constraints")),
        notes(playbook, Kind::Limitation, QStringLiteral("limitations"), tr("Limitations")),
        notes(playbook, Kind::Verification, QStringLiteral("verification"), tr("Verification")),
        notes(playbook, Kind::Fact, QStringLiteral("facts"), tr("Memory facts"))};
    return page;
}

} // namespace tidemark
