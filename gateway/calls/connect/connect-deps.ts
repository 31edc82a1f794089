import type { Bridges } from '../leg/bridges.ts'
import type { Player } from '../verbs/player.ts'
import type { ForkDialerDeps } from './fork-types.ts'

/** What a hunt works with. */
export interface ConnectSessionDeps extends ForkDialerDeps {
  readonly bridges: Bridges
  readonly player: Player
}

/** Longest time together where the options say nothing: 4 hours. */
export const defaultMaxDurationMs = 4 * 3_600_000
