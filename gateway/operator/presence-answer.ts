import { TrunklineError } from '../core/errors/catalogue.ts'
import type { AddressBook } from '../model.ts'

/** Devices and applications that receive calls, as a running gateway knows them. */
export interface PresenceSource {
  readonly directory: AddressBook
  /** Returns the number of online browsers of a subscriber. */
  readonly browsers: (subscriberId: string) => number
  /** Returns the number of registered contacts of a SIP endpoint. */
  readonly contacts: (endpointId: string) => number
  /** Returns the number of connected applications that listen on a topic of a project. */
  readonly listeners: (projectId: string, topic: string) => number
}

/** Answer to the request `presence` of the control socket. Unknown addresses are absent. */
export interface PresenceAnswer {
  readonly addresses: Readonly<Record<string, number>>
  readonly topics: Readonly<Record<string, number>>
}

/** Maximum number of addresses and of topics in one request. */
const maxQuestions = 100

/**
 * Returns the number of devices of each address, and of applications of each topic. Throws `invalid_field` if
 * the request is malformed.
 */
export const presenceAnswer = (
  { directory, browsers, contacts, listeners }: PresenceSource,
  { project, addresses, topics }: Readonly<Record<string, unknown>>,
): PresenceAnswer => {
  if (typeof project !== 'string' || !isList(addresses) || !isList(topics))
    throw new TrunklineError('invalid_field', 'The request needs a project, addresses and topics.')
  const counts = addresses.flatMap((address): [string, number][] => {
    const target = directory.resolve(address, project)
    if (target?.kind === 'subscriber') return [[address, browsers(target.subscriberId)]]
    return target?.kind === 'endpoint' ? [[address, contacts(target.endpointId)]] : []
  })
  return {
    addresses: Object.fromEntries(counts),
    topics: Object.fromEntries(topics.map((topic) => [topic, listeners(project, topic)])),
  }
}

const isList = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.length <= maxQuestions && value.every((each) => typeof each === 'string')
