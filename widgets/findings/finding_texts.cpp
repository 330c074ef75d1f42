// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/findings/finding_texts.hpp"

#include "model/findings/evidence_units.hpp"
#include "widgets/style/text.hpp"

#include <QCoreApplication>
#include <QStringList>

#include <string_view>

namespace tidemark {

namespace {

QString tr(const char* text)
{
    return QCoreApplication::translate("findings", text);
}

EvidenceUnit unitOf(std::string_view key)
{
    return evidenceUnit(key).value_or(EvidenceUnit::Count);
}

QString number(std::string_view key, std::int64_t value)
{
    switch (unitOf(key)) {
    case EvidenceUnit::Bytes:
        return bytesText(value);
    case EvidenceUnit::Microseconds:
        return durationText(value);
    default:
        return countText(value);
    }
}

QString real(std::string_view key, double value)
{
    if (unitOf(key) == EvidenceUnit::Share)
        return percentText(value);
    QString text = QString::number(value, 'g', 6);
    if (text.startsWith(QLatin1Char('-')))
        text.replace(0, 1, QChar(0x2212));
    return unitOf(key) == EvidenceUnit::Percent ? text + QStringLiteral("\u00a0%") : text;
}

struct ValueText {
    std::string_view key;
    QString& exact;

    QString operator()(std::monostate) const { return tr("unknown"); }
    QString operator()(bool value) const { return shownText(evidenceAnswer(key, value)); }
    QString operator()(std::int64_t value) const
    {
        if (unitOf(key) == EvidenceUnit::Bytes && (value >= 1024 || value <= -1024))
            exact = exactBytesText(value);
        return number(key, value);
    }
    QString operator()(double value) const { return real(key, value); }
    QString operator()(const std::string& value) const { return shownText(value); }
    QString operator()(const std::vector<std::int64_t>& values) const
    {
        QStringList parts;
        for (const std::int64_t value : values)
            parts << number(key, value);
        return parts.join(QStringLiteral(", "));
    }
    QString operator()(const std::vector<std::string>& values) const
    {
        QStringList parts;
        for (const std::string& value : values)
            parts << shownText(value);
        return parts.join(QStringLiteral(", "));
    }
};

QString gradeLetter(Grade grade)
{
    return QString(QLatin1Char(static_cast<char>(grade)));
}

} // namespace

QString breakable(const QString& text)
{
    constexpr int longest = 9;
    QString out;
    int run = 0;
    for (const QChar c : text) {
        out += c;
        run = c.isSpace() ? 0 : run + 1;
        if (run > longest && QStringLiteral("@_./=:,-").contains(c)) {
            out += QChar(0x200b);
            run = 0;
        }
    }
    return out;
}

QString findingSubtitle(const Finding& finding)
{
    QStringList parts{QString::fromStdString(finding.rule)};
    for (const Evidence& each : finding.evidence)
        if (each.key == "label")
            if (const auto* label = std::get_if<std::string>(&each.value))
                parts << shownText(*label);
    if (!finding.playbook.empty())
        parts << QString::fromStdString(finding.playbook);
    return parts.join(QStringLiteral(" · "));
}

QString findingPlace(const Finding& finding, const Diagnosis& diagnosis)
{
    return diagnosis.rank && diagnosis.rank->devices.size() > 1
        ? QString::fromStdString(deviceName(finding.device))
        : QString();
}

EvidenceText evidenceText(const Evidence& evidence)
{
    EvidenceText text;
    text.name = shownText(evidenceName(evidence.key));
    text.value = std::visit(ValueText{evidence.key, text.exact}, evidence.value);
    return text;
}

QString gradeMeaning(Grade grade)
{
    switch (grade) {
    case Grade::A:
        return tr("A: exact, from this file");
    case Grade::B:
        return tr("B: follows from this file under an assumption that is named");
    case Grade::C:
        return tr("C: measured elsewhere; the source is given, yours will differ");
    case Grade::D:
        break;
    }
    return tr("D: a rule of thumb");
}

QString fixEffect(const Fix& fix)
{
    QStringList parts;
    if (fix.removedAtPeak)
        parts << tr("%1 at the old peak").arg(deltaText(-*fix.removedAtPeak));
    if (fix.newPeak) {
        QString text = tr("new peak %1").arg(bytesText(*fix.newPeak));
        if (!fix.newPeakOwner.empty())
            text += tr(", made by %1").arg(shownText(fix.newPeakOwner));
        parts << text;
    }
    return parts.join(QStringLiteral(" · "));
}

QString findingText(const Finding& finding)
{
    QStringList lines{shownText(finding.title), findingSubtitle(finding), shownText(finding.explanation)};
    for (const Evidence& each : finding.evidence) {
        const EvidenceText text = evidenceText(each);
        lines << QStringLiteral("  %1: %2").arg(text.name, text.exact.isEmpty() ? text.value : text.exact);
    }
    int place = 0;
    for (const Fix& fix : finding.fixes) {
        lines << QStringLiteral("%1. %2 [%3]").arg(++place).arg(shownText(fix.text), gradeLetter(fix.grade));
        for (const QString& more : {fixEffect(fix), shownText(fix.cost),
                 fix.blockedBy.empty() ? QString() : tr("Not here: %1").arg(shownText(fix.blockedBy))})
            if (!more.isEmpty())
                lines << QStringLiteral("   ") + more;
    }
    lines.removeAll(QString());
    return lines.join(QLatin1Char('\n'));
}

QString undecidedText(const std::vector<Undecided>& undecided)
{
    std::vector<std::pair<std::string, QStringList>> needs;
    for (const Undecided& each : undecided) {
        auto found = std::find_if(
            needs.begin(), needs.end(), [&](const auto& need) { return need.first == each.needs; });
        if (found == needs.end())
            found = needs.insert(needs.end(), {each.needs, {}});
        found->second << QString::fromStdString(each.rule);
    }
    QStringList lines;
    for (const auto& [need, rules] : needs)
        lines << rules.join(QStringLiteral(", ")) + QStringLiteral(": ") + shownText(need);
    return lines.join(QLatin1Char('\n'));
}

} // namespace tidemark
