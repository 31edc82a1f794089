import { type Keys, pathOf, type Report } from '../faults.ts'
import { isLoopback } from '../networks.ts'
import type { CarrierConfig, Config, DomainConfig } from '../types.ts'

/** Public passwords of `example.yaml`, the documentation and the tests. */
export const publishedPasswords: ReadonlySet<string> = new Set([
  'alice-demo',
  'bob-demo',
  'demo',
  'cymru',
  'correct-horse',
  'its-own-secret',
  'only-for-tests-on-this-machine',
])

/** Minimum length of a password that cannot be guessed within days, in characters. */
const minPasswordLength = 8

/**
 * Warns of public or weak passwords if other machines can reach a listener. Public ones get one warning
 * together, since they come together with a copy of the example.
 */
export const warnOfPasswords = (config: Config, report: Report): void => {
  if (!isReachable(config)) return
  const found = passwordsOf(config)
  const published = found.filter(({ password }) => publishedPasswords.has(password))
  const [first, ...others] = published
  if (first) {
    const also = others.map(({ keys }) => pathOf(keys)).join(', ')
    const too = also === '' ? '' : ` (also ${also})`
    report(first.keys, `is a password of the published examples${too}: other machines can reach the gateway`)
  }
  for (const { keys, password, name } of found) {
    if (publishedPasswords.has(password)) continue
    if (password.length < minPasswordLength)
      report(keys, `has fewer than ${minPasswordLength} characters, and other machines can reach the gateway`)
    else if (name !== undefined && password.toLowerCase() === name.toLowerCase())
      report(keys, 'equals the user name, and other machines can reach the gateway')
  }
}

/**
 * Warns of carriers without number rules if subscribers or endpoints may dial out: attackers use stolen
 * passwords to call premium-rate numbers.
 */
export const warnOfNumbers = (config: Config, report: Report): void => {
  const { carriers, project: first, subscribers, endpoints } = config
  const dialling = new Set(
    [...subscribers, ...endpoints]
      .filter(({ mayDialOut }) => mayDialOut)
      .map(({ project = first }) => project),
  )
  carriers.forEach((carrier, i) => {
    if (isOfAny(carrier, dialling, first) && carrier.numbers === undefined)
      report(
        ['carriers', i],
        `subscribers or endpoints may dial out, and ${carrier.name} permits every number; ` +
          'restrict it by numbers.allow or numbers.refuse',
      )
  })
}

const isOfAny = ({ project }: CarrierConfig, projects: ReadonlySet<string>, first: string): boolean =>
  projects.has(project ?? first)

const isReachable = ({ sip, http }: Config): boolean => {
  const addresses = [
    ...(sip.drachtio ? [sip.drachtio.host] : sip.listen.map(({ address }) => address)),
    ...(http.plain ? [http.plain.address] : []),
    ...(http.tls ? [http.tls.address] : []),
  ]
  return addresses.some((address) => !isLoopback(address))
}

interface FoundPassword {
  readonly keys: Keys
  readonly password: string
  /** User name that belongs to the password. */
  readonly name?: string
}

const passwordsOf = ({
  http,
  subscribers,
  endpoints,
  domains,
  carriers,
}: Config): readonly FoundPassword[] => [
  ...(http.apiToken ? [{ keys: ['http', 'apiToken'], password: http.apiToken }] : []),
  ...subscribers.map(({ email, password }, i) => ({
    keys: ['subscribers', i, 'password'],
    password,
    name: email,
  })),
  ...endpoints.map(({ username, password }, i) => ({
    keys: ['endpoints', i, 'password'],
    password,
    name: username,
  })),
  ...challengesOf('domains', domains),
  ...challengesOf('carriers', carriers),
]

const challengesOf = (
  group: string,
  entries: readonly Pick<DomainConfig, 'challenge'>[],
): readonly FoundPassword[] =>
  entries.flatMap(({ challenge }, i) =>
    challenge
      ? [
          {
            keys: [group, i, 'challenge', 'password'],
            password: challenge.password,
            name: challenge.username,
          },
        ]
      : [],
  )
