import { senderOf } from '@trunkline/sip-agent/networks'
import type { Clock } from '../../core/clock.ts'
import type { Log } from '../../core/log.ts'
import { FixedWindowLimiter } from '../../core/rates.ts'
import type { Directory } from '../../directory/directory.ts'
import type { Subscriber } from '../../directory/model/callers.ts'

/** Collaborators of {@link PasswordSignIn}. */
export interface PasswordSignInDeps {
  readonly directory: Pick<Directory, 'signIn'>
  readonly clock: Pick<Clock, 'now' | 'after'>
  readonly log: Pick<Log, 'warn'>
}

/** Credentials of a sign-in. */
export interface Credentials {
  readonly projectId: string
  readonly email: string
  readonly password: string
}

/** Source of a sign-in attempt. */
export interface SignInSource {
  /** Network address. */
  readonly ip: string
  /** Id of the request. */
  readonly id: string
}

/** Result of an attempt. `waitMs`: time until the next attempt is allowed. */
export type SignedIn =
  | { readonly subscriber: Subscriber }
  | { readonly refused: 'unauthorized' }
  | { readonly refused: 'too_many_requests'; readonly waitMs: number }

const windowMs = 60_000
/**
 * Maximum number of attempts that are being checked or wait for their check. A check takes about 30 ms; two
 * checks run at the same time.
 */
const maxAtOnce = 100
const busyMs = 2_000

/** Delay in ms of an attempt on an e-mail that has had many attempts from all networks together. */
const slowMs = 2_000

/**
 * Sign-in with e-mail and password. A network address has 30 attempts a minute, and 10 of them on one e-mail
 * of a project. After 10 attempts from several networks, each attempt on the e-mail is only delayed, so that
 * no attacker can lock a subscriber out. All pages and listeners share one instance, and therefore the
 * limits.
 */
export class PasswordSignIn {
  readonly #deps: PasswordSignInDeps
  readonly #perAddress: FixedWindowLimiter
  readonly #perEmailAndAddress: FixedWindowLimiter
  readonly #perEmail: FixedWindowLimiter
  #running = 0

  constructor(deps: PasswordSignInDeps) {
    this.#deps = deps
    this.#perAddress = new FixedWindowLimiter(deps.clock, { attempts: 30, windowMs })
    this.#perEmailAndAddress = new FixedWindowLimiter(deps.clock, { attempts: 10, windowMs })
    this.#perEmail = new FixedWindowLimiter(deps.clock, { attempts: 10, windowMs })
  }

  /** Checks a password. The check takes equally long for known and unknown e-mails. Logs rejections. */
  async attempt({ projectId, email, password }: Credentials, source: SignInSource): Promise<SignedIn> {
    // The same e-mail may belong to different subscribers of two projects.
    const name = `${projectId} ${email.toLowerCase()}`
    const network = senderOf(source.ip)
    // An attempt over the first limit does not count towards the second, so that one machine cannot lock a
    // subscriber out.
    const waitMs =
      this.#perAddress.take(network) ||
      (this.#running < maxAtOnce ? this.#perEmailAndAddress.take(`${network} ${name}`) : busyMs)
    if (waitMs > 0) {
      this.#refused('too_many_requests', source)
      return { refused: 'too_many_requests', waitMs }
    }
    if (this.#perEmail.take(name) > 0) await this.#slowDown()
    const subscriber = await this.#check(projectId, email, password)
    if (!subscriber) {
      this.#refused('unauthorized', source)
      return { refused: 'unauthorized' }
    }
    // The count for the e-mail over all networks stays: this success proves nothing about attempts from other
    // networks.
    this.#perEmailAndAddress.forget(`${network} ${name}`)
    return { subscriber }
  }

  #slowDown(): Promise<void> {
    return new Promise((resolve) => this.#deps.clock.after(slowMs, resolve))
  }

  async #check(projectId: string, email: string, password: string): Promise<Subscriber | undefined> {
    this.#running++
    try {
      return await this.#deps.directory.signIn(projectId, email, password)
    } finally {
      this.#running--
    }
  }

  #refused(code: string, { ip, id }: SignInSource): void {
    this.#deps.log.warn({ event: 'sign-in.rejected', code, source: ip, request: id }, 'sign-in rejected')
  }
}
