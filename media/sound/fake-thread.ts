import type { Timers } from './clock.ts'
import type { JobReply, StartWorker } from './job-thread.ts'

/** For tests: threads that answer only when they are told to. */
export class FakeThreads<Job> {
  readonly jobs: Job[] = []
  started = 0
  ended = 0
  /** Answers of the thread that was started last. */
  reply: (reply: JobReply) => void = () => undefined
  /** Lets the thread that was started last die. */
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

/** For tests: timers that stand still until time is moved. */
export class FakeTimers implements Timers {
  #now = 0
  #due: { at: number; run: () => void }[] = []

  /** Timers that are still to fire. */
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
