/** Subscribers for the versions of the published SDK. */
import type { Gateway } from './gateway.ts'
import { apiToken } from './recorded.ts'
import { rest } from './rest.ts'
import type { SdkVersion } from './sdk-versions.ts'

/** Options of a gateway whose API issues tokens. */
export const withToken = { http: { apiToken } }

/** Email address of a subscriber. */
export const emailOf = (person: string): string => `${person}@example.test`

/** Returns the two subscribers of an SDK version. */
export const peopleOf = ({ person, friend }: SdkVersion): object[] =>
  [person, friend].map((name) => ({
    email: emailOf(name),
    password: 'wonderland-9',
    displayName: `The ${name}`,
    mayDialOut: true,
  }))

/** Requests an access token for a subscriber from the API. */
export const tokenOf = async (gateway: Gateway, person: string): Promise<string> => {
  const path = '/api/fabric/subscribers/tokens'
  return (await rest(gateway, 'POST', path, { reference: emailOf(person) })).body.token
}
