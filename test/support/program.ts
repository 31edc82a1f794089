import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { basename, delimiter, join } from 'node:path'
import { reportOnFailure } from './failure-report.ts'

/** Whether a program of this name is on the path. */
export const isInstalled = (command: string): boolean =>
  (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, command)))

/** Running processes. A test file whose clean-up failed must not leave any of them behind. */
const running = new Set<ChildProcess>()
const killAll = (): void => {
  for (const child of running) child.kill('SIGKILL')
}
process.once('exit', killAll)
// Vitest ends the process of a test file with this signal.
process.once('SIGTERM', () => {
  killAll()
  process.exit()
})

/** Options of a {@link Program}. */
export interface ProgramOptions {
  readonly cwd?: string
  readonly env?: NodeJS.ProcessEnv
  /** Whether the program leads a process group of its own, for {@link Program.signalGroup}; default false. */
  readonly detached?: boolean
  /** Whether the program has a standard input for {@link Program.type}; default false. */
  readonly input?: boolean
  /**
   * Name of the output in the report of a failed test; default the command's. False leaves the output out.
   */
  readonly name?: string | false
}

/** A child process whose output is kept, and reported if the test fails. */
export class Program {
  readonly #child: ChildProcess
  readonly #lines: string[] = []
  #rest = ''
  #ended: { code: number | null; signal: NodeJS.Signals | null } | undefined

  constructor(
    command: string,
    args: readonly string[],
    { input = false, name = basename(command), ...others }: ProgramOptions = {},
  ) {
    if (name !== false) reportOnFailure(name, () => this.#lines)
    this.#child = spawn(command, args, { ...others, stdio: [input ? 'pipe' : 'ignore', 'pipe', 'pipe'] })
    running.add(this.#child)
    this.#child.stdin?.on('error', () => {})
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.on('data', (chunk: Buffer) => this.#take(chunk))
    this.#child.on('error', (error) => this.#lines.push(String(error)))
    this.#child.on('close', (code, signal) => {
      running.delete(this.#child)
      if (this.#rest) this.#lines.push(this.#rest)
      this.#ended = { code, signal }
    })
  }

  /** Process id. */
  get pid(): number {
    return this.#child.pid ?? -1
  }

  /** All output: standard output and standard error in order of arrival. */
  get lines(): readonly string[] {
    return this.#lines
  }

  /** Exit code; undefined while the program runs. */
  get exitCode(): number | null | undefined {
    return this.#ended?.code
  }

  /** Waits for the end of the program. Resolves with the exit code, or null if a signal ended the program. */
  async end(): Promise<number | null> {
    if (!this.#ended) await once(this.#child, 'close')
    return this.#ended?.code ?? null
  }

  /** Writes a line to the standard input, which needs the option `input`. */
  type(line: string): void {
    this.#child.stdin?.write(`${line}\n`)
  }

  /** Sends a signal to each process of the program's own group. Has no effect on an ended program. */
  signalGroup(name: NodeJS.Signals): void {
    if (!this.#ended) process.kill(-this.pid, name)
  }

  /** Sends a signal. Has no effect on an ended program. */
  signal(name: NodeJS.Signals): void {
    if (!this.#ended) this.#child.kill(name)
  }

  /** Sends SIGTERM, and SIGKILL if the program still runs after `ms`. */
  async stop(ms = 5_000): Promise<number | null> {
    this.signal('SIGTERM')
    const killer = setTimeout(() => this.signal('SIGKILL'), ms)
    const code = await this.end()
    clearTimeout(killer)
    return code
  }

  #take(chunk: Buffer): void {
    const lines = (this.#rest + chunk.toString()).split('\n')
    this.#rest = lines.pop() ?? ''
    this.#lines.push(...lines)
  }
}
