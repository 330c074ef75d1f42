// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/autosave.hpp"

#include "app/session_store.hpp"
#include "widgets/style/text.hpp"

#include <QCryptographicHash>
#include <QDir>
#include <QFileInfo>
#include <QUuid>

#include <nlohmann/json.hpp>
#include <utility>

namespace tidemark {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* originKey = "autosave_of";

QString filePath(const QString& folder, const QString& id)
{
    return QStringLiteral("%1/%2.tidemark").arg(folder, id);
}

QString lockPath(const QString& folder, const QString& id)
{
    return QStringLiteral("%1/%2.lock").arg(folder, id);
}

/// Never taken for stale by its age: only when the program that holds it is gone.
std::unique_ptr<QLockFile> makeLock(const QString& path)
{
    auto lock = std::make_unique<QLockFile>(path);
    lock->setStaleLockTime(0);
    return lock;
}

void setOrigin(report::SessionFile& session, const fs::path& of)
{
    Json extra = Json::parse(session.extra.empty() ? "{}" : session.extra, nullptr, false);
    if (!extra.is_object())
        extra = Json::object();
    extra[originKey] = of.string();
    session.extra = extra.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Leftover describe(const QString& path)
{
    Leftover out;
    out.file = pathOf(path);
    out.written = QFileInfo(path).lastModified();
    auto read = report::readSession(out.file);
    if (!read) {
        out.problem = shownText(read.error().message);
        return out;
    }
    out.of = takeOrigin(read->session);
    out.notes = read->session.annotations.size();
    if (!read->session.inputs.empty())
        out.snapshot = shownName(read->session.inputs.front().path);
    return out;
}

} // namespace

fs::path takeOrigin(report::SessionFile& session)
{
    if (session.extra.empty())
        return {};
    Json extra = Json::parse(session.extra, nullptr, false);
    if (!extra.is_object() || !extra.contains(originKey))
        return {};
    const fs::path of = extra[originKey].is_string() ? extra[originKey].get<std::string>() : std::string();
    extra.erase(originKey);
    session.extra
        = extra.empty() ? std::string() : extra.dump(-1, ' ', false, Json::error_handler_t::replace);
    return of;
}

Autosave::Autosave(QString folder, QObject* parent)
    : QObject(parent)
    , m_folder(std::move(folder))
    , m_id(QUuid::createUuid().toString(QUuid::WithoutBraces))
{
    m_pool.setMaxThreadCount(1);
}

Autosave::~Autosave()
{
    m_pool.waitForDone();
}

void Autosave::start(std::function<void()> work)
{
    m_pool.start(std::move(work));
}

fs::path Autosave::file() const
{
    return pathOf(filePath(m_folder, m_id));
}

void Autosave::write(report::SessionFile session, const fs::path& of)
{
    start([this, session = std::move(session), of, folder = m_folder, id = m_id]() mutable {
        if (QDir().mkpath(folder) && !m_lock) {
            QFile::setPermissions(
                folder, QFileDevice::ReadOwner | QFileDevice::WriteOwner | QFileDevice::ExeOwner);
            m_lock = makeLock(lockPath(folder, id));
            m_lock->tryLock(0);
        }
        hashInputs(session);
        setOrigin(session, of);
        const auto result = report::writeSession(pathOf(filePath(folder, id)), session);
        QMetaObject::invokeMethod(
            this,
            [this, sentence = result ? QString() : shownText(result.error().message)] {
                if (sentence.isEmpty())
                    emit written();
                else
                    emit failed(sentence);
            },
            Qt::QueuedConnection);
    });
}

void Autosave::drop()
{
    start([this, folder = m_folder, id = m_id] {
        if (!m_lock)
            return;
        QFile::remove(filePath(folder, id));
        m_lock->unlock(); // others may hold it, too
        m_lock.reset();
    });
}

void Autosave::look()
{
    start([this, folder = m_folder] {
        std::vector<Leftover> leftovers;
        const QDir place(folder);
        for (const QString& name : place.entryList({QStringLiteral("*.tidemark")}, QDir::Files, QDir::Time)) {
            const QString id = name.chopped(9);
            std::shared_ptr<QLockFile> lock = makeLock(lockPath(folder, id));
            if (!lock->tryLock(0))
                continue;
            // What a write that was cut off has left.
            for (const QString& part : place.entryList({name + QStringLiteral(".*")}, QDir::Files))
                QFile::remove(place.filePath(part));
            leftovers.push_back(describe(place.filePath(name)));
            leftovers.back().lock = std::move(lock);
        }
        if (!leftovers.empty())
            QMetaObject::invokeMethod(
                this, [this, leftovers] { emit found(leftovers); }, Qt::QueuedConnection);
    });
}

void Autosave::adopt(const Leftover& leftover)
{
    drop();
    m_id = nameOf(leftover.file.stem());
    start([this, lock = leftover.lock] { m_lock = lock; });
}

void Autosave::discard(const Leftover& leftover)
{
    std::error_code ignored;
    fs::remove(leftover.file, ignored);
    leftover.lock->unlock();
}

void Autosave::claim(const fs::path& session)
{
    start([this, session, folder = m_folder] {
        m_claim.reset();
        std::error_code ignored;
        const QByteArray name = QByteArray::fromStdString(fs::weakly_canonical(session, ignored).string());
        const QByteArray mark = QCryptographicHash::hash(name, QCryptographicHash::Sha1).toHex();
        QDir().mkpath(folder);
        auto lock = makeLock(QStringLiteral("%1/open-%2.lock").arg(folder, QString::fromLatin1(mark)));
        // No place for a lock is no other window.
        const bool alone = lock->tryLock(0) || lock->error() != QLockFile::LockFailedError;
        if (alone)
            m_claim = std::move(lock);
        QMetaObject::invokeMethod(
            this, [this, alone] { emit claimed(alone); }, Qt::QueuedConnection);
    });
}

void Autosave::release()
{
    start([this] { m_claim.reset(); });
}

} // namespace tidemark
