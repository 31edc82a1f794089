import { type ChildProcess, fork } from 'node:child_process'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import type { MediaClock, MediaTimer } from '../clock.ts'
import { type ComposerCommand, type ComposerReport, readReport } from './composer-protocol.ts'
import { type PacketRecord, RecordReader } from './packet-records.ts'

/** Receives what a composing process sends, and its death. */
export interface ComposerChildListener {
  onReport(report: ComposerReport): void
  onRecord(record: PacketRecord): void
  /** Called once, after which nothing more arrives. Not called after {@link ComposerChild.end}. */
  onDeath(reason: Error): void
}

/** Settings of a composing process. */
export interface ComposerChildOptions {
  readonly clock: MediaClock
  /** Added to the nice value of the gateway's own processes, 0 to 19. */
  readonly nice: number
}

const entry = join(import.meta.dirname, 'composer-process.ts')
/** Only folder that the process may read: its own sources, and the native sockets. */
const readable = dirname(import.meta.dirname)

/** Time without a report after which a process hangs, in ms; it reports once in a second. */
const maxSilenceMs = 5000
/** Maximum time of a start, in ms. */
const maxStartMs = 20_000
/** Maximum time for a process to end by itself, in ms. */
const maxEndMs = 2000
/** Bytes of the end of standard error that are kept for the reason of a death. */
const maxErrorBytes = 2000

/**
 * Starts the process: no environment, no access to files outside of the media package, no other processes, no
 * code from text.
 */
const start = (nice: number): ChildProcess =>
  fork(entry, [String(nice)], {
    env: {},
    cwd: '/',
    execArgv: [
      '--permission',
      '--allow-addons',
      `--allow-fs-read=${readable}`,
      '--disallow-code-generation-from-strings',
      '--max-old-space-size=128',
      '--no-warnings',
    ],
    serialization: 'json',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc', 'pipe'],
  })

/** Handle of one running composing process. */
export class ComposerChild {
  readonly #child: ChildProcess
  readonly #options: ComposerChildOptions
  #listener: ComposerChildListener
  readonly #ended = Promise.withResolvers<void>()
  #watchdog: MediaTimer | undefined
  #errors = ''
  #fault: Error | undefined
  #isReady = false
  #isEnded = false
  #isClosing = false

  constructor(options: ComposerChildOptions, listener: ComposerChildListener) {
    this.#options = options
    this.#listener = listener
    this.#child = start(options.nice)
    this.#listen()
    this.#watch(maxStartMs)
  }

  /** Whether it has reported that it runs. */
  get isReady(): boolean {
    return this.#isReady
  }

  /** Gives the process another owner, which receives what follows. */
  handOver(listener: ComposerChildListener): void {
    this.#listener = listener
  }

  /** Sends a command. No effect after the death. */
  send(command: ComposerCommand): void {
    // The error of a process that is about to die is its death, which is reported by itself.
    if (this.#child.connected) this.#child.send(command, () => {})
  }

  /** Ends the process. Resolves when it has ended. */
  async end(): Promise<void> {
    this.#isClosing = true
    this.#watchdog?.cancel()
    if (this.#isEnded) return
    this.send({ op: 'end' })
    const killing = this.#options.clock.after(maxEndMs, () => this.#child.kill('SIGKILL'))
    await this.#ended.promise
    killing.cancel()
  }

  #listen(): void {
    const child = this.#child
    child.on('message', (message) => this.#check(() => this.#receive(readReport(message))))
    child.on('error', (error) => {
      // The process may live on: an error of its pipe is one, too.
      child.kill('SIGKILL')
      this.#die(error)
    })
    child.on('exit', (code, signal) => this.#die(new Error(this.#deathOf(code, signal))))
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#errors = (this.#errors + text).slice(-maxErrorBytes)
    })
    const reader = new RecordReader((record) => this.#listener.onRecord(record))
    // At the limit of descriptors, a child has no streams; its error follows.
    const streams = child.stdio as ChildProcess['stdio'] | undefined
    const output = streams?.[4] as Readable | null | undefined
    output?.on('data', (chunk: Buffer) => this.#check(() => reader.read(chunk))).on('error', () => {})
  }

  #receive(report: ComposerReport): void {
    this.#watch()
    if (report.op === 'ready') this.#isReady = true
    this.#listener.onReport(report)
  }

  /** Kills the process if it sends what it never should: it may be in the hands of a stranger. */
  #check(read: () => void): void {
    if (this.#isClosing || this.#isEnded || this.#fault) return
    try {
      read()
    } catch (error) {
      this.#kill(error as Error)
    }
  }

  #watch(silenceMs = maxSilenceMs): void {
    this.#watchdog?.cancel()
    if (this.#isClosing || this.#isEnded) return
    this.#watchdog = this.#options.clock.after(silenceMs, () =>
      this.#kill(new Error(`the composer has not reported for ${silenceMs / 1000} s`)),
    )
  }

  #kill(fault: Error): void {
    this.#fault ??= fault
    this.#child.kill('SIGKILL')
  }

  #die(reason: Error): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#watchdog?.cancel()
    this.#ended.resolve()
    if (!this.#isClosing) this.#listener.onDeath(this.#fault ?? reason)
  }

  #deathOf(code: number | null, signal: NodeJS.Signals | null): string {
    const how = signal === null ? `with code ${code}` : `by ${signal}`
    const error = /^.*(?:Error|ERROR|FATAL).*$/m.exec(this.#errors)?.[0]?.trim()
    return `the composer ended ${how}${error === undefined ? '' : `: ${error}`}`
  }
}
