// SPDX-License-Identifier: GPL-3.0-or-later
// Pickles that run programs where they are unpickled, opened by the program under a trace of its system
// calls: no process is started, no file written, nothing opened but the input and what belongs to the
// program and the system, and there is no network.
#include "tests/support/pickle_forge.hpp"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QMap>
#include <QProcess>
#include <QRegularExpression>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>

using namespace tidemark::test;
using namespace std::string_literals;

namespace {

struct Attack {
    const char* name;
    std::string opcodes; ///< leave one value on the stack
};

/// os.system(command) and its like by every opcode that calls, looks up or builds.
std::vector<Attack> attacks(const std::string& command)
{
    const std::string text = opText(command);
    const std::string one = text + '\x85';
    const std::string byName = opText("os") + opText("system") + '\x93';
    const std::string popen = "csubprocess\nPopen\n";
    return {
        {"GLOBAL and REDUCE", "cos\nsystem\n" + one + 'R'},
        {"STACK_GLOBAL and REDUCE", byName + one + 'R'},
        {"INST", '(' + text + "ios\nsystem\n"},
        {"OBJ", "(cos\nsystem\n" + text + 'o'},
        {"NEWOBJ", popen + one + '\x81'},
        {"NEWOBJ_EX", popen + one + "}\x92"},
        {"BUILD", popen + ')' + '\x81' + "}(" + opText("args") + text + opText("shell") + '\x88' + "ub"},
        {"BUILD by __setstate__",
            "c__main__\nX\n)\x81}" + opText("__setstate__") + "cos\nsystem\nsb" + text + 'b'},
        {"eval", "cbuiltins\neval\n" + opText("__import__('os').system('" + command + "')") + "\x85R"},
        {"EXT1", "\x82\x01" + one + 'R'},
        {"EXT2", "\x83\x01\x02"s + one + 'R'},
        {"EXT4", "\x84\x01\x02\x03\x04"s + one + 'R'},
        {"PERSID", 'P' + command + '\n'},
        {"BINPERSID", text + 'Q'},
        {"getattr", "cbuiltins\ngetattr\n(cos\nX\n" + opText("system") + "tR" + one + 'R'},
        {"file", "cio\nopen\n(" + opText("written-by-pickle") + opText("w") + "tR"},
        {"network", "curllib.request\nurlopen\n(" + opText("http://127.0.0.1:9/") + "tR"},
    };
}

/// The calls of a trace, one a line, put together where another thread interrupted them.
QStringList callsOf(const QString& file)
{
    static const QRegularExpression resumed(QStringLiteral("^(\\d+)\\s+<\\.\\.\\. \\w+ resumed>(.*)$"));
    constexpr QLatin1String unfinished(" <unfinished ...>");
    QFile in(file);
    QStringList calls;
    QMap<QString, QString> begun; // by process
    if (!in.open(QIODevice::ReadOnly))
        return calls;
    for (const QByteArray& bytes : in.readAll().split('\n')) {
        const QString line = QString::fromUtf8(bytes);
        const auto end = resumed.match(line);
        if (line.endsWith(unfinished))
            begun[line.section(QLatin1Char(' '), 0, 0)] = line.chopped(unfinished.size());
        else if (end.hasMatch())
            calls << begun.take(end.captured(1)) + end.captured(2);
        else if (!line.isEmpty())
            calls << line;
    }
    return calls + begun.values();
}

/// Why a call may not be; empty when it may.
QString offence(const QString& call, const QString& program, const QString& inputs, int& started)
{
    static const QRegularExpression named(QStringLiteral("^\\d+\\s+(\\w+)\\((.*)$"));
    const auto match = named.match(call);
    if (!match.hasMatch())
        return {}; // an exit, a signal
    const QString name = match.captured(1);
    const QString rest = match.captured(2);
    if (name == "execve" || name == "execveat")
        return ++started == 1 ? QString() : QStringLiteral("starts a program");
    if (name == "fork" || name == "vfork" || name.startsWith("clone"))
        return rest.contains("CLONE_THREAD") ? QString() : QStringLiteral("starts a process");
    static const QStringList network{"socket", "socketpair", "connect", "bind", "listen", "accept", "accept4",
        "sendto", "sendmsg", "sendmmsg", "recvfrom", "recvmsg"};
    if (network.contains(name))
        return QStringLiteral("uses the network");
    static const QStringList changing{"creat", "unlink", "unlinkat", "rename", "renameat", "renameat2",
        "mkdir", "mkdirat", "rmdir", "link", "linkat", "symlink", "symlinkat", "chmod", "fchmodat",
        "truncate", "mknod", "mknodat", "mount", "setxattr", "chown", "lchown", "fchownat", "utimensat"};
    if (changing.contains(name))
        return QStringLiteral("changes the disk");
    if (name != "open" && name != "openat" && name != "openat2")
        return {};
    if (rest.contains(QRegularExpression(QStringLiteral("O_WRONLY|O_RDWR|O_CREAT|O_TRUNC|O_APPEND"))))
        return QStringLiteral("opens a file for writing");
    if (rest.contains("= -1 "))
        return {}; // is not there
    static const QRegularExpression path(QStringLiteral("\"([^\"]*)\""));
    const QString opened = path.match(rest).captured(1);
    for (const QString& allowed : {inputs, QFileInfo(program).absolutePath(), QStringLiteral("/usr/"),
             QStringLiteral("/lib"), QStringLiteral("/etc/"), QStringLiteral("/proc/"),
             QStringLiteral("/sys/"), QStringLiteral("/dev/null"), QStringLiteral("/dev/urandom")})
        if (opened.startsWith(allowed))
            return {};
    return QStringLiteral("opens a file that is not its own");
}

} // namespace

class TestNeverExecutes : public QObject {
    Q_OBJECT
private slots:
    void initTestCase()
    {
        m_program = qEnvironmentVariable("TIDEMARK_BIN");
        if (m_program.isEmpty())
            QSKIP("TIDEMARK_BIN does not say where the program is.");
        m_strace = QStandardPaths::findExecutable(QStringLiteral("strace"));
        if (m_strace.isEmpty())
            QSKIP("strace is not installed.");
        if (QProcess::execute(m_strace, {"-f", "-o", "/dev/null", "true"}) != 0)
            QSKIP("strace may not trace here.");
        QVERIFY(
            m_folder.isValid() && QDir(m_folder.path()).mkdir("in") && QDir(m_folder.path()).mkdir("home"));
        const std::string mark = m_folder.filePath("pwned").toStdString();
        int n = 0;
        const auto write = [&](const std::string& bytes) {
            QFile file(m_folder.filePath(QStringLiteral("in/%1.pickle").arg(++n, 3, 10, QLatin1Char('0'))));
            QVERIFY(file.open(QIODevice::WriteOnly));
            file.write(bytes.data(), static_cast<qint64>(bytes.size()));
            m_files << file.fileName();
        };
        for (const Attack& attack : attacks("touch " + mark)) {
            const Py value = pyRaw(attack.opcodes);
            for (const int protocol : {2, 4}) {
                write(pickled(value, {.protocol = protocol}));
                write(pickled(with(pySample(), {{"allocator_settings", value}, {"unknown", value}}),
                    {.protocol = protocol}));
            }
            // In the place of an event's field, and of its frames.
            write(pickled(pySnapshot({},
                {pyList({with(pyEvent("alloc", 512, 9, 1), {{"frames", value}}),
                    with(pyEvent("alloc", 1024, 9, 1), {{"user_metadata", value}, {"size", value}})})})));
        }
    }

    void nothingRuns_data()
    {
        QTest::addColumn<QStringList>("arguments");
        QTest::newRow("info") << QStringList{"info", "--json"};
        QTest::newRow("info --partial") << QStringList{"info", "--partial"};
        QTest::newRow("diagnose") << QStringList{"diagnose"};
    }

    void nothingRuns()
    {
        QFETCH(QStringList, arguments);
        const QString trace = m_folder.filePath("trace.txt");
        QProcess process;
        QProcessEnvironment environment;
        environment.insert("HOME", m_folder.filePath("home"));
        environment.insert("PATH", qEnvironmentVariable("PATH"));
        environment.insert("LC_ALL", "C.UTF-8");
        process.setProcessEnvironment(environment);
        process.setWorkingDirectory(m_folder.filePath("home"));
        process.start(m_strace,
            QStringList{"-f", "-s", "4096", "-e", "trace=process,network,file", "-o", trace, m_program}
                + arguments + m_files);
        QVERIFY(process.waitForFinished(300000));
        QCOMPARE(process.exitStatus(), QProcess::NormalExit);
        // Some open, some do not.
        QVERIFY2(
            process.exitCode() == 4 || process.exitCode() == 0, process.readAllStandardError().constData());

        const QStringList calls = callsOf(trace);
        int started = 0;
        for (const QString& call : calls) {
            const QString why = offence(call, m_program, m_folder.filePath("in/"), started);
            QVERIFY2(why.isEmpty(), qPrintable(why + ": " + call));
        }
        QCOMPARE(started, 1);
        // The trace has seen the reading itself.
        for (const QString& file : m_files)
            QVERIFY2(calls.filter("open").filter(file).size() > 0, qPrintable(file));
        QVERIFY(!QFile::exists(m_folder.filePath("pwned")));
        QVERIFY(
            QDir(m_folder.filePath("home")).isEmpty(QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot));
    }

private:
    QTemporaryDir m_folder;
    QString m_program;
    QString m_strace;
    QStringList m_files;
};

QTEST_GUILESS_MAIN(TestNeverExecutes)
#include "tst_never_executes.moc"
