import { randomBytes } from 'node:crypto'
import type { Clock } from '../clock.ts'
import type { Dialogs } from '../dialog/dialogs.ts'
import { magicCookie } from '../message/via.ts'
import type { Reach } from '../reach/reach.ts'
import type { Router } from '../route/types.ts'
import type { Shield } from '../shield/shield.ts'
import type { Timers } from '../transaction/timers.ts'
import type { Transactions } from '../transaction/transactions.ts'
import type { Transports } from '../transport/transports.ts'
import type { Cdrs } from './cdr.ts'
import type { Diversions } from './diversions.ts'
import type { OwnRefusals } from './own-refusals.ts'
import type { RegisteredFlows } from './registered-flows.ts'
import type { Subscriptions } from './subscriptions.ts'

/** What all parts of the agent's core work with. */
export interface Context {
  readonly clock: Clock
  readonly timers: Timers
  readonly transports: Transports
  readonly transactions: Transactions
  readonly dialogs: Dialogs
  readonly router: Router
  /** Rules on where requests may go. */
  readonly reach: Pick<Reach, 'outside' | 'within'>
  readonly cdrs: Cdrs
  readonly registeredFlows: RegisteredFlows
  readonly subscriptions: Subscriptions
  readonly shield: Pick<Shield, 'trustTemporarily' | 'recordOffense' | 'isTrusted'>
  readonly refusals: Pick<OwnRefusals, 'add'>
  readonly diversions: Pick<Diversions, 'add'>
  /** Value of User-Agent and Server where the application gives none. */
  readonly userAgent: string | undefined
  /** The 100 of a new INVITE is handed over too. */
  readonly deliversTrying?: boolean
}

/** A From or To tag: 64 random bits (RFC 3261 19.3 asks for 32). */
export const newTag = (): string => randomBytes(8).toString('hex')

/** A Via branch. */
export const newBranch = (): string => magicCookie + randomBytes(12).toString('hex')
