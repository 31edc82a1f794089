import { execFile } from 'node:child_process'
import type { Log } from '../core/log.ts'

/** Assignments of sd_notify(3). */
const notices = { ready: 'READY=1', stopping: 'STOPPING=1' } as const

/** Maximum time in ms for a notice. It is sent beside the gateway, so nothing waits for it. */
const maxMs = 10_000

/**
 * Tells systemd that the gateway accepts calls, or that it ends, as a service of `Type=notify` must. Node has
 * no datagram sockets of Unix, so `systemd-notify` sends the notice. A notice that fails is logged.
 */
export class ServiceManager {
  readonly #socket: string | undefined
  readonly #log: Log
  readonly #program: string

  /**
   * `socket`: NOTIFY_SOCKET of the process. Nothing is sent if it is undefined: no systemd waits. `program`:
   * the program that sends.
   */
  constructor(socket: string | undefined, log: Log, program = 'systemd-notify') {
    this.#socket = socket
    this.#log = log
    this.#program = program
  }

  /** Sends a notice. */
  notify(state: keyof typeof notices): void {
    if (this.#socket === undefined) return
    execFile(this.#program, [notices[state]], { timeout: maxMs }, (error) => {
      if (error)
        this.#log.error({ event: 'systemd.notice-failed', state, err: error }, 'notice to systemd failed')
    })
  }
}
