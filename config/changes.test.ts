import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { changesBetween, withoutRestartKeys } from './changes.ts'
import { readConfig } from './load.ts'
import { liveKeys, reloadRuleOf, restartKeys } from './rules/reload-rules.ts'
import type { Schema } from './schema/builders.ts'
import { configSchema } from './schema/config-schema.ts'
import { testFolder } from './testing/config-test-folder.ts'

const folder = testFolder()

const read = (text: string) => {
  const file = join(folder.path, 'trunkline.yaml')
  writeFileSync(file, text)
  return readConfig(file, {})
}
const between = (before: string, after: string) => changesBetween(read(before).values, read(after).values)

/** Returns the keys without further keys, by the paths of the rules. */
const leavesOf = (schema: Schema, path: string): { path: string; schema: Schema }[] => {
  const children = Object.entries(schema.properties ?? {})
  const inner = schema.items
  const any = schema.additionalProperties
  if (children.length > 0)
    return children.flatMap(([key, child]) => leavesOf(child, path === '' ? key : `${path}.${key}`))
  if (inner) return leavesOf(inner, `${path}[]`)
  return typeof any === 'object' ? leavesOf(any, `${path}.<name>`) : [{ path, schema }]
}
const leaves = leavesOf(configSchema, '')

describe('the rules of a reload', () => {
  it('cover every key of the schema', () => {
    expect(leaves.length).toBeGreaterThan(150)
    expect(leaves.filter(({ path }) => !reloadRuleOf(path)).map(({ path }) => path)).toEqual([])
  })

  it('name only existing keys', () => {
    const known = new Set(
      leaves.flatMap(({ path }) => {
        const keys = path.replaceAll(/\[\]|\.<name>/g, '').split('.')
        return keys.map((_key, i) => keys.slice(0, i + 1).join('.'))
      }),
    )
    const named = [...liveKeys, ...Object.keys(restartKeys)]
    expect(named.filter((key) => !known.has(key))).toEqual([])
    expect(new Set(named).size).toBe(named.length)
  })

  it('give precedence to the more specific key', () => {
    expect(reloadRuleOf('http.tls.port')).toMatchObject({ kind: 'restart' })
    expect(reloadRuleOf('http.tls.certificate')).toEqual({ kind: 'live' })
    expect(reloadRuleOf('sip.registrar.domains[]')).toMatchObject({ kind: 'restart' })
    expect(reloadRuleOf('sip.registrar.contacts')).toEqual({ kind: 'live' })
    expect(reloadRuleOf('no.such.key')).toBeUndefined()
  })
})

it('every key with a secret is marked as secret', () => {
  const secret =
    /password|secret|apiToken|operatorToken|\.token$|signingKeys|privateKey|\.key$|headers\.|envs/i
  // Paths of key files are not secret.
  const unmarked = leaves.filter(
    ({ path, schema }) => secret.test(path) && schema.writeOnly !== true && schema.format !== 'file-path',
  )
  expect(unmarked.map(({ path }) => path)).toEqual(['http.tls.key'])
})

describe('differences', () => {
  it('are none between files with equal values', () => {
    expect(between('drain: 30s', '{}')).toEqual([])
    expect(
      between('domains: [{domain: a.example}]', 'domains:\n  - domain: a.example # as before\n'),
    ).toEqual([])
  })

  it('have the key, the old value and the new one', () => {
    expect(between('limits: { calls: 5 }', 'limits: { calls: 7 }')).toEqual([
      { path: 'limits.calls', kind: 'changed', before: '5', after: '7', rule: { kind: 'live' } },
    ])
    expect(between('{}', 'sip: { domainSuffix: x.example }')).toEqual([
      { path: 'sip.domainSuffix', kind: 'added', after: '"x.example"', rule: { kind: 'live' } },
    ])
  })

  it('have the names of list entries, also of moved ones', () => {
    const before = 'domains: [{ domain: a.example, maxCalls: 1 }, { domain: b.example }]'
    const after = 'domains: [{ domain: c.example }, { domain: a.example, maxCalls: 2 }]'
    expect(between(before, after).map(({ path, kind }) => `${kind} ${path}`)).toEqual([
      'changed domains[a.example].maxCalls',
      'removed domains[b.example]',
      'added domains[c.example]',
    ])
    const one = '{ name: one, targets: [sip:a.example] }'
    const two = '{ name: two, targets: [sip:b.example] }'
    expect(between(`carriers: [${one}, ${two}]`, `carriers: [${two}, ${one}]`)).toMatchObject([
      { path: 'carriers', before: '["one","two"]', after: '["two","one"]' },
    ])
  })

  it('never contain secrets', () => {
    const file = (secret: string) => `
http: { apiToken: "token ${secret} 0123456789" }
webhooks: { signingKeys: ["key ${secret} 0123456789"], recordsUrl: "https://u:${secret}@x.example/r?t=${secret}" }
envs: { one: "${secret}" }
subscribers: [{ email: a@x.example, password: "pw ${secret} 123" }]
carriers: [{ name: acme, targets: [sip:a.example], auth: { username: u, password: "${secret}" } }]
resources: [{ address: /public/menu, handler: { kind: xml, document: "<Response>${secret}</Response>" } }]
store: { url: "postgres://u:${secret}@db.example/x" }
rooms: [{ address: /public/lounge, streams: [{ url: "rtmp://live.example/app/${secret}" }] }]
media: { speech: { recogniser: { url: "ws://r.example", token: "${secret}", headers: { x: "${secret}" } } } }
`
    const changes = between(file('sesame'), file('alibaba'))
    expect(changes.map(({ path }) => path)).toEqual([
      'store.url',
      'media.speech.recogniser.headers.x',
      'media.speech.recogniser.token',
      'http.apiToken',
      'webhooks.signingKeys',
      'webhooks.recordsUrl',
      'envs.one',
      'carriers[acme].auth.password',
      'subscribers[a@x.example].password',
      'resources[/public/menu].handler.document',
      'rooms[/public/lounge].streams',
    ])
    expect(JSON.stringify(changes)).not.toMatch(/sesame|alibaba/)
    expect(changes.filter(({ hidden }) => hidden === undefined).map(({ path }) => path)).toEqual([
      'webhooks.recordsUrl',
      'rooms[/public/lounge].streams',
    ])
  })

  it('contain no fragment of a URL, which may be a secret', () => {
    const file = (fragment: string) => `webhooks: { recordsUrl: "https://x.example/r#${fragment}" }`
    expect(between(file('sesame'), file('alibaba'))).toMatchObject([
      { before: '"https://x.example/r#…"', after: '"https://x.example/r#…"' },
    ])
  })

  it('contain no secrets of an added group', () => {
    const changes = between('http: { plain: false }', 'http: { plain: { port: 81 } }')
    expect(changes).toMatchObject([
      { path: 'http.plain', before: 'false', after: '{"port":81,"address":"127.0.0.1"}' },
    ])
    const added = between('{}', 'push: { webhook: { url: "https://x.example" } }')
    expect(added).toEqual([{ path: 'push.webhook', kind: 'added', rule: { kind: 'live' } }])
  })
})

describe('keys that need a restart', () => {
  it('keep their old values in the applied configuration', () => {
    const before = read(
      'limits: { calls: 5 }\nhttp: { plain: { port: 81 }, tls: false }\nsip: { userAgent: a }',
    )
    const after = read('limits: { calls: 6 }\nhttp: { plain: false }\nsip: { announce: 192.0.2.1 }')
    const changes = changesBetween(before.values, after.values)
    expect(changes.filter(({ rule }) => rule.kind === 'restart').map(({ path }) => path)).toEqual([
      'sip.announce',
      'sip.userAgent',
      'http.plain',
      'http.tls',
    ])
    const config = after.rebuilt(withoutRestartKeys(before.values, after.values))
    expect(config.limits.calls).toBe(6)
    expect(config.sip).toEqual(before.config.sip)
    expect(config.http).toEqual(before.config.http)
    expect(after.values.sip).toHaveProperty('announce')
  })
})
