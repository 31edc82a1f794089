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

/** Collaborators that all components of the core share. */
export interface Context {
  readonly clock: Clock
  readonly timers: Timers
  readonly transports: Transports
  readonly transactions: Transactions
  readonly dialogs: Dialogs
  readonly router: Router
  /** Rules on the destinations of requests. */
  readonly reach: Pick<Reach, 'outside' | 'within'>
  readonly cdrs: Cdrs
  readonly registeredFlows: RegisteredFlows
  readonly subscriptions: Subscriptions
  readonly shield: Pick<Shield, 'trustTemporarily' | 'recordOffense' | 'isTrusted'>
  readonly refusals: Pick<OwnRefusals, 'add'>
  readonly diversions: Pick<Diversions, 'add'>
  /** Value of User-Agent and Server if the application sets none. */
  readonly userAgent: string | undefined
  /** Whether applications receive the 100 to a new INVITE. */
  readonly deliversTrying?: boolean
}

/** Returns a new From or To tag with 64 random bits; RFC 3261 19.3 requires at least 32. */
export const newTag = (): string => randomBytes(8).toString('hex')

/** Returns a new Via branch. */
export const newBranch = (): string => magicCookie + randomBytes(12).toString('hex')
