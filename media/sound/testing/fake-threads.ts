import type { Timers } from '../../clock.ts'
import type { JobReply, StartWorker } from '../job-thread.ts'

/** Fake threads for tests, which answer on command. */
export class FakeThreads<Job> {
  readonly jobs: Job[] = []
  started = 0
  ended = 0
  /** Sends a reply from the last started thread. */
  reply: (reply: JobReply) => void = () => undefined
  /** Fails the last started thread. */
  fail: (error: Error) => void = () => undefined

  readonly start: StartWorker<Job> = (onReply, onFailure) => {
    this.started++
    this.reply = onReply
    this.fail = onFailure
    return {
      send: (job) => this.jobs.push(job),
      end: async () => {
        this.ended++
      },
    }
  }

  /** Answers with `count` samples, whose value is the number of the job. */
  answer(count: number): void {
    this.reply({ samples: new Int16Array(new SharedArrayBuffer(count * 2)).fill(this.jobs.length) })
  }
}

/** Fake timers for tests, which fire on {@link advance}. */
export class FakeTimers implements Timers {
  #now = 0
  #due: { at: number; run: () => void }[] = []

  /** Number of pending timers. */
  get running(): number {
    return this.#due.length
  }

  after(ms: number, run: () => void): { cancel(): void } {
    const entry = { at: this.#now + ms, run }
    this.#due.push(entry)
    return { cancel: () => this.#drop(entry) }
  }

  advance(ms: number): void {
    this.#now += ms
    for (const entry of this.#due.filter(({ at }) => at <= this.#now)) {
      this.#drop(entry)
      entry.run()
    }
  }

  #drop(entry: { at: number }): void {
    this.#due = this.#due.filter((other) => other !== entry)
  }
}
