import type { Config } from '../../../config/types.ts'
import type { Log } from '../../core/log.ts'
import type { Write } from '../store/sqlite.ts'

/**
 * A component that is prepared for a new configuration. Until {@link commit}, the old configuration applies.
 */
export interface PreparedStep {
  /**
   * Writes to the store, in one transaction with the other components. Throws if the store's content
   * conflicts with the change.
   */
  readonly write?: (write: Write) => Promise<void>
  /** Applies the new configuration. Must not fail: whatever can fail belongs in the preparation. */
  readonly commit: () => void
  /**
   * Runs after all components have committed, for instance to read the written rows. A failure becomes a
   * warning.
   */
  readonly after?: () => Promise<void>
  /** Discards the preparation; called instead of {@link commit}. */
  readonly discard?: () => void | Promise<void>
}

/**
 * Prepares a component to replace the configuration `now` by `next`. Throws an Error with a text for the
 * operator if the component cannot use `next`. Returns undefined if no change concerns the component.
 */
export type PrepareStep = (
  next: Config,
  now: Config,
) => PreparedStep | undefined | Promise<PreparedStep | undefined>

/** Completed preparation of a component, with the component's name. */
interface Prepared extends PreparedStep {
  readonly name: string
}

/** Error of a component that cannot use a configuration. */
export class ChangeRefused extends Error {
  readonly part: string

  constructor(part: string, cause: unknown) {
    super(`${part}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
    this.name = 'ChangeRefused'
    this.part = part
  }
}

/** Components that follow changes of the configuration at run time, in the order in which they commit. */
export class ConfigFollowers {
  readonly #parts: { readonly name: string; readonly prepare: PrepareStep }[] = []

  /** Adds a component; `name` appears in errors. */
  add(name: string, prepare: PrepareStep): void {
    this.#parts.push({ name, prepare })
  }

  /** Adds a component that accepts every configuration. */
  change(name: string, commit: (next: Config) => void): void {
    this.add(name, (next) => ({ commit: () => commit(next) }))
  }

  /**
   * Prepares every component. If a component cannot use `next`, discards all preparations and throws
   * {@link ChangeRefused}.
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

/** Prepared change of the configuration in every component. */
export class PreparedChange {
  readonly #steps: readonly Prepared[]

  constructor(steps: readonly Prepared[]) {
    this.#steps = steps
  }

  /** Whether the change writes to the store. */
  get writes(): boolean {
    return this.#steps.some(({ write }) => write !== undefined)
  }

  /** Runs the writes of all components. Throws {@link ChangeRefused}. */
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
   * Commits every component. A component that fails, by a defect, does not stop the others. Returns the
   * failures as texts for the operator.
   */
  commit(log: Pick<Log, 'error'>): readonly string[] {
    const failed: string[] = []
    for (const { name, commit } of this.#steps) {
      try {
        commit()
      } catch (err) {
        log.error(
          { event: 'config.commit-failed', err, part: name },
          'component failed to apply the configuration',
        )
        failed.push(`${new ChangeRefused(name, err).message}; restart the gateway`)
      }
    }
    return failed
  }

  /** Runs the steps that follow the commits. Returns the failures as texts for the operator. */
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

  /** Discards all preparations. */
  async discard(): Promise<void> {
    for (const { discard } of this.#steps) await discard?.()
  }
}
