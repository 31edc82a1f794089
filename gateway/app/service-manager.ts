import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Log } from '../core/log.ts'

const execute = promisify(execFile)

/** Assignments of sd_notify(3). */
const notifications = { ready: 'READY=1', stopping: 'STOPPING=1' } as const

/** Maximum time in ms for a notification. It is sent beside the gateway, so nothing waits for it. */
const maxMs = 10_000

/** Number of attempts: without the notification, systemd takes the service for one that still starts. */
const attempts = 3

/**
 * Tells systemd that the gateway accepts calls, or that it ends, as a service of `Type=notify` must. Node has
 * no datagram sockets of Unix, so `systemd-notify` sends the notification. One that fails three times is
 * logged.
 */
export class ServiceManager {
  readonly #socket: string | undefined
  readonly #log: Log
  readonly #program: string
  #last = Promise.resolve()

  /**
   * `socket`: NOTIFY_SOCKET of the process. Nothing is sent if it is undefined: no systemd waits. `program`:
   * the program that sends.
   */
  constructor(socket: string | undefined, log: Log, program = 'systemd-notify') {
    this.#socket = socket
    this.#log = log
    this.#program = program
  }

  /** Sends a notification, after the earlier ones. */
  notify(state: keyof typeof notifications): void {
    if (this.#socket === undefined) return
    this.#last = this.#last.then(() => this.#send(state, attempts))
  }

  async #send(state: keyof typeof notifications, left: number): Promise<void> {
    try {
      await execute(this.#program, [notifications[state]], { timeout: maxMs })
    } catch (error) {
      if (left > 1) return this.#send(state, left - 1)
      const fact = { event: 'systemd.notification-failed', state, err: error }
      this.#log.error(fact, 'systemd not notified')
    }
  }
}
