import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { effectiveConfig } from './effective-config.ts'
import { testFolder } from './testing/config-test-folder.ts'

const folder = testFolder()

const effective = (text: string, env: Readonly<Record<string, string>> = {}) => {
  const file = join(folder.path, 'trunkline.yaml')
  writeFileSync(file, text)
  const values = effectiveConfig(file, env)
  return { values, of: (key: string) => values.find((each) => each.key === key) }
}

it('has each value with its origin', () => {
  const { of } = effective(
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the configuration.
    'http: { plain: { port: "${PORT}" } }\nsip: { listen: [{ transport: udp, port: 5070 }] }',
    { PORT: '8099' },
  )
  expect(of('http.plain.port')).toEqual({ key: 'http.plain.port', value: 8099, origin: 'environment' })
  expect(of('sip.listen[0].port')).toEqual({ key: 'sip.listen[0].port', value: 5070, origin: 'file' })
  expect(of('sip.listen[0].address')).toMatchObject({ origin: 'default' })
  expect(of('drain')).toEqual({ key: 'drain', value: '30s', origin: 'default' })
  expect(of('carriers')).toEqual({ key: 'carriers', value: [], origin: 'default' })
})

it('follows the order of the reference, whatever that of the file', () => {
  const keys = effective('drain: 5s\nproject: one').values.map(({ key }) => key)
  expect(keys.indexOf('project')).toBeLessThan(keys.indexOf('dataDir'))
  expect(keys.at(-1)).toBe('drain')
})

it('masks every secret', () => {
  const { values, of } = effective(
    `http: { apiToken: hunter2-hunter2-hunter2 }
envs: { CITY: hunter2 }
store: { url: "postgres://me:hunter2@db/x" }
webhooks: { signingKeys: [hunter2-hunter2-hunter2], recordsUrl: "https://app.example/records?token=hunter2" }
carriers: [{ name: acme, targets: ["sip:gw.acme.example"], auth: { username: me, password: hunter2 } }]
endpoints: [{ username: desk, password: hunter2-hunter2 }]
subscribers: [{ email: ann@x.example, password: hunter2-hunter2 }]
rooms: [{ address: /public/lounge, streams: [{ url: "rtmps://live.example/app/hunter2" }] }]
domains:
  - domain: a.example
    allow: [192.0.2.0/24]
    handler: { kind: xml, url: "https://me:hunter2@app.example/?key=hunter2#ct=500" }
  - domain: b.example
    allow: [192.0.2.0/24]
    handler: { kind: xml, document: "<Response><!-- hunter2 --><Hangup/></Response>" }
`,
  )
  expect(JSON.stringify(values)).not.toContain('hunter2')
  expect(of('http.apiToken')).toMatchObject({ value: '(secret)', origin: 'file' })
  expect(of('rooms[0].streams[0].url')).toMatchObject({ value: '(secret)', origin: 'file' })
  expect(of('carriers[0].auth.username')).toMatchObject({ value: 'me' })
  expect(of('domains[0].handler.url')).toMatchObject({
    value: 'https://(secret)@app.example/?(secret)#ct=500',
  })
  expect(of('domains[1].handler.document')).toMatchObject({ value: '(document of 1 line)' })
})
