import type { Clock } from '../../../core/clock.ts'
import { codeOf, TrunklineError } from '../../../core/errors/catalogue.ts'
import type { Directory } from '../../../directory/directory.ts'
import type { Resources } from '../../../directory/model/ports.ts'
import type { Resource, SubscriberDetails } from '../../../directory/model/resource-types.ts'
import type { RefreshTokenRows } from '../../../directory/tables/refresh-tokens.ts'
import type { ValidatedFields } from '../../requests/typed-routes.ts'
import { text, withoutUndefined } from '../shared/field-schemas.ts'
import { findResource } from '../shared/resource-lookup.ts'
import { password } from './subscriber-kind.ts'

/** Collaborators of {@link TokenSubscribers}. */
export interface TokenSubscriberDeps {
  readonly resources: Pick<Resources, 'find' | 'findSubscriber' | 'create' | 'update'>
  readonly directory: Pick<Directory, 'signIn' | 'subscriber' | 'changeSubscriber'>
  readonly refreshRows: Pick<RefreshTokenRows, 'removeOf'>
  readonly clock: Pick<Clock, 'now'>
}

/** Properties of a token request that describe the subscriber. */
export const subscriberFields = {
  reference: {
    type: 'string',
    minLength: 1,
    maxLength: 254,
    pattern: '^[^\\s\\u0000-\\u001f\\u007f]+$',
    description: 'Identifier of the subscriber in the project, usually the e-mail address.',
  },
  password,
  display_name: text(),
  first_name: text(),
  last_name: text(),
  job_title: text(),
  time_zone: text(64),
  country: text(),
  region: text(),
  company_name: text(),
} as const

/** Fields of a token request that describe the subscriber. */
export type SubscriberBody = ValidatedFields<typeof subscriberFields, 'reference'>

/** Finds, creates and updates the subscribers of token requests. */
export class TokenSubscribers {
  readonly #deps: TokenSubscriberDeps

  constructor(deps: TokenSubscriberDeps) {
    this.#deps = deps
  }

  /**
   * Returns the subscriber with a reference. Creates a missing subscriber, and updates changed fields. Throws
   * `not_permitted` for a disabled subscriber.
   */
  async ensure(projectId: string, body: SubscriberBody): Promise<{ readonly id: string }> {
    const { resources, directory } = this.#deps
    const known = resources.findSubscriber(projectId, body.reference)
    const made = known ? undefined : await this.#create(projectId, body)
    if (made) return made
    const present = known ?? resources.findSubscriber(projectId, body.reference)
    // Another gateway has just created the subscriber; the change has not arrived yet.
    if (!present) throw new TrunklineError('email_taken')
    if (directory.subscriber(present.id)?.disabled)
      throw new TrunklineError('not_permitted', 'The subscriber is disabled.')
    await this.#change(present, body)
    return present
  }

  /** Revokes every token of a subscriber. Throws `unknown_resource`. */
  async revokeAll(projectId: string, id: string): Promise<void> {
    const { resources, directory, refreshRows, clock } = this.#deps
    findResource(resources, projectId, 'subscriber', id)
    // Refresh tokens are removed first. Access tokens renewed before are then older than the stored time,
    // which includes the current millisecond.
    await refreshRows.removeOf(id)
    await directory.changeSubscriber(projectId, id, { tokensAfter: clock.now() + 1 })
  }

  /** Returns undefined if another request has created the subscriber meanwhile. */
  async #create(projectId: string, body: SubscriberBody): Promise<Resource<'subscriber'> | undefined> {
    // An API token that only issues tokens must not let a subscriber make calls at the project's expense.
    const details = { ...detailsOf(body), email: body.reference.toLowerCase(), mayDialOut: false }
    const displayName = body.display_name ?? nameOf(body)
    try {
      return await this.#deps.resources.create({
        projectId,
        type: 'subscriber',
        displayName,
        details,
        ...(body.password !== undefined && { password: body.password }),
      })
    } catch (error) {
      if (codeOf(error) === 'email_taken') return undefined
      throw error
    }
  }

  /** Writes only changes: token requests are frequent and mostly repeat the same fields. */
  async #change(
    { projectId, id, displayName, details }: Resource<'subscriber'>,
    body: SubscriberBody,
  ): Promise<void> {
    const changed = Object.entries(detailsOf(body)).filter(
      ([name, value]) => details[name as keyof SubscriberDetails] !== value,
    )
    const renamed = body.display_name !== undefined && body.display_name !== displayName
    const password = await this.#newPassword(projectId, details.email, body.password)
    if (changed.length === 0 && !renamed && password === undefined) return
    await this.#deps.resources.update(projectId, 'subscriber', id, {
      ...(renamed && { displayName: body.display_name }),
      ...(changed.length > 0 && { details: Object.fromEntries(changed) }),
      ...(password !== undefined && { password }),
    })
  }

  /** Returns a password that differs from the present one. An unchanged password must end no session. */
  async #newPassword(
    projectId: string,
    email: string,
    given: string | undefined,
  ): Promise<string | undefined> {
    if (given === undefined) return undefined
    return (await this.#deps.directory.signIn(projectId, email, given)) ? undefined : given
  }
}

const detailsOf = (body: SubscriberBody): Partial<SubscriberDetails> =>
  withoutUndefined({
    firstName: body.first_name,
    lastName: body.last_name,
    jobTitle: body.job_title,
    timeZone: body.time_zone,
    country: body.country,
    region: body.region,
    companyName: body.company_name,
  })

const nameOf = ({ first_name: first, last_name: last, reference }: SubscriberBody): string =>
  [first, last].filter(Boolean).join(' ') || (reference.split('@')[0] ?? reference)
