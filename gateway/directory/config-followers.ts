import type { Config } from '../../config/types.ts'
import type { Log } from '../core/log.ts'
import type { Write } from './sqlite.ts'

/** A part that is ready to take over a new configuration. Until {@link commit} it works by the old one. */
export interface PreparedStep {
  /**
   * Writes to the store, in one transaction with the other parts. Throws where the store holds something that
   * forbids it.
   */
  readonly write?: (write: Write) => Promise<void>
  /** Takes over. Must not fail: everything that can fail belongs to the preparation. */
  readonly commit: () => void
  /** Follows the commits of all parts, for instance to read back what was written. A failure is a warning. */
  readonly after?: () => Promise<void>
  /** Gives up what was prepared, in place of {@link commit}. */
  readonly discard?: () => void | Promise<void>
}

/**
 * Prepares a part for `next` in place of `now`. Throws an Error for people where it cannot be used. Returns
 * undefined where nothing concerns the part.
 */
export type PrepareStep = (
  next: Config,
  now: Config,
) => PreparedStep | undefined | Promise<PreparedStep | undefined>

/** A part's preparation, made. */
interface Prepared extends PreparedStep {
  readonly name: string
}

/** A part cannot use a configuration. */
export class ChangeRefused extends Error {
  readonly part: string

  constructor(part: string, cause: unknown) {
    super(`${part}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
    this.name = 'PartRefuses'
    this.part = part
  }
}

/** The parts that follow the configuration of a running gateway, in the order in which they take it over. */
export class ConfigFollowers {
  readonly #parts: { readonly name: string; readonly prepare: PrepareStep }[] = []

  /** Adds a part; `name` stands in errors. */
  add(name: string, prepare: PrepareStep): void {
    this.#parts.push({ name, prepare })
  }

  /** Adds a part that takes every configuration. */
  change(name: string, commit: (next: Config) => void): void {
    this.add(name, (next) => ({ commit: () => commit(next) }))
  }

  /**
   * Prepares every part. Throws {@link ChangeRefused}, with nothing left prepared, where one of them cannot
   * use `next`.
   */
  async prepare(next: Config, now: Config): Promise<PreparedChange> {
    const steps: Prepared[] = []
    for (const { name, prepare } of this.#parts) {
      try {
        const step = await prepare(next, now)
        if (step) steps.push({ name, ...step })
      } catch (error) {
        await new PreparedChange(steps).discard()
        throw new ChangeRefused(name, error)
      }
    }
    return new PreparedChange(steps)
  }
}

/** Every part of the gateway, prepared for a configuration. */
export class PreparedChange {
  readonly #steps: readonly Prepared[]

  constructor(steps: readonly Prepared[]) {
    this.#steps = steps
  }

  /** Whether the change writes to the store. */
  get writes(): boolean {
    return this.#steps.some(({ write }) => write !== undefined)
  }

  /** Writes for all parts. Throws {@link ChangeRefused}. */
  async write(write: Write): Promise<void> {
    for (const step of this.#steps) {
      try {
        await step.write?.(write)
      } catch (error) {
        throw new ChangeRefused(step.name, error)
      }
    }
  }

  /**
   * Lets every part take over. A part that fails all the same, by a defect, keeps no other from it. Returns
   * what failed, for people.
   */
  commit(log: Pick<Log, 'error'>): readonly string[] {
    const failed: string[] = []
    for (const { name, commit } of this.#steps) {
      try {
        commit()
      } catch (err) {
        log.error(
          { event: 'config.commit-failed', err, part: name },
          'part failed to take the configuration over',
        )
        failed.push(`${new ChangeRefused(name, err).message}; restart the gateway`)
      }
    }
    return failed
  }

  /** Finishes the takeover; returns what failed, for people. */
  async finish(): Promise<readonly string[]> {
    const failed: string[] = []
    for (const { name, after } of this.#steps) {
      try {
        await after?.()
      } catch (error) {
        failed.push(new ChangeRefused(name, error).message)
      }
    }
    return failed
  }

  /** Gives up what was prepared. */
  async discard(): Promise<void> {
    for (const { discard } of this.#steps) await discard?.()
  }
}
