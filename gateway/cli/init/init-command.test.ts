import {
  chmodSync,
  chownSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { loadConfig } from '../../../config/load.ts'
import { configWarnings } from '../../app/config-check.ts'
import { Passwords } from '../../directory/writing/passwords.ts'
import { type InitCommandOptions, nextCommands, writeFirstConfig } from './init-command.ts'
import { freePort } from './this-machine.ts'

let folder: string
let file: string
let out: string
let err: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-init-'))
  file = join(folder, 'trunkline.yaml')
  out = ''
  err = ''
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    out += text
    return true
  })
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    err += text
    return true
  })
})
afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true })
})

const none: InitCommandOptions = {
  host: undefined,
  domain: undefined,
  carrier: [],
  email: undefined,
  apiTokenVariable: undefined,
  dataDir: undefined,
  yes: false,
  force: false,
  json: false,
}

const init = (options: Partial<InitCommandOptions>): Promise<number> =>
  writeFirstConfig(file, { ...none, yes: true, ...options }, undefined)

/** A terminal whose user gives these answers. */
const answering = (...answers: string[]) => {
  const questions: string[] = []
  return {
    questions,
    ask: async (question: string) => {
      questions.push(question)
      return answers.shift() ?? ''
    },
  }
}

const loaded = () => {
  const config = loadConfig(file)
  expect(configWarnings(config, file)).toEqual([])
  return config
}

describe('a first configuration', () => {
  it('is valid without warnings, private, and has a password that opens it', async () => {
    expect(await init({})).toBe(0)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const { subscribers, http, domains, project } = loaded()
    const password = /Password {5}(\S+) /.exec(out)?.[1] ?? ''
    expect(password.length).toBeGreaterThanOrEqual(20)
    expect(readFileSync(file, 'utf8')).not.toContain(password)
    expect(await new Passwords().verify(password, subscribers[0]?.password ?? '')).toBe(true)
    expect(out).toContain(`user ${project}, token ${http.apiToken}`)
    expect(out).toContain(`sip:anyone@${domains[0]?.domain}`)
    expect(out).toContain(`  trunkline check ${file}\n  trunkline run ${file}\n`)
  })

  it('is followed by the commands that start the gateway: the service for a file of the package', () => {
    const packaged = '/etc/trunkline/trunkline.yaml'
    expect(nextCommands(packaged, true)[1]).toBe('systemctl enable --now trunkline')
    expect(nextCommands(packaged, false)[1]).toBe(`trunkline run ${packaged}`)
    expect(nextCommands('trunkline.yaml', true)[1]).toBe('trunkline run trunkline.yaml')
  })

  it('has the values of the options', async () => {
    const options = {
      host: '127.0.0.1',
      domain: 'voice.example',
      carrier: ['203.0.113.0/24', '198.51.100.7'],
      email: 'Ann@voice.example',
    }
    expect(await init(options)).toBe(0)
    const { domains, subscribers, sip, http } = loaded()
    expect(domains.map(({ domain }) => domain)).toEqual(['voice.example', '127.0.0.1'])
    expect(domains[1]?.allow).toEqual(domains[0]?.allow)
    expect(domains[0]?.allow?.slice(0, 2)).toEqual(['203.0.113.0/24', '198.51.100.7/32'])
    expect(subscribers[0]).toMatchObject({ email: 'Ann@voice.example', name: 'Ann' })
    expect(sip.announce).toBeUndefined()
    expect(http.tls).toMatchObject({ hosts: ['localhost', 'voice.example', '127.0.0.1'] })
  })

  it.each(['192.0.2.77', '2001:db8::7'])('announces the address %s, which no interface has', async (host) => {
    expect(await init({ host })).toBe(0)
    const { sip, media } = loaded()
    expect(sip.announce).toBe(host)
    expect(media.rtp.announce).toEqual([host])
    expect(media.webrtc.announce).toEqual([host])
    expect(out).toContain(host.includes(':') ? `sip:anyone@[${host}]` : `sip:anyone@${host}`)
  })

  it('receives SIP by IPv6 and IPv4 if this machine has the IPv6 address', async () => {
    expect(await init({ host: '::1' })).toBe(0)
    const { sip, http, domains } = loaded()
    expect(sip.listen.map(({ transport, address }) => [transport, address])).toEqual([
      ['udp', '::'],
      ['tcp', '::'],
      ['udp', '0.0.0.0'],
      ['tcp', '0.0.0.0'],
    ])
    expect(http.tls).toMatchObject({ address: '::' })
    expect(domains[0]?.allow).toContain('::1/128')
  })

  it('has the data folder of the option, else one beside the file', async () => {
    expect(await init({ dataDir: '/srv/trunkline' })).toBe(0)
    expect(loaded().dataDir).toBe('/srv/trunkline')
    expect(await init({ force: true })).toBe(0)
    expect(loaded().dataDir).toBe(join(folder, 'data'))
  })

  it('takes the API token from a variable', async () => {
    expect(await init({ apiTokenVariable: 'API_TOKEN' })).toBe(0)
    vi.stubEnv('API_TOKEN', 'a-token-of-the-operator')
    expect(loaded().http.apiToken).toBe('a-token-of-the-operator')
    expect(out).toContain('in the environment variable API_TOKEN')
  })

  it('avoids ports in use, and says so', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const server = createServer()
      .listen(8080, '0.0.0.0', resolve)
      .once('error', () => resolve())
    await promise
    expect(await init({})).toBe(0)
    const { plain } = loaded().http
    const port = plain ? plain.port : 0
    expect(port).toBeGreaterThan(8080)
    expect(out).toContain(`Port 8080 is in use: the file has ${port}.`)
    server.close()
  })

  it('is described as JSON for programs', async () => {
    expect(await init({ yes: false, json: true, domain: 'voice.example' })).toBe(0)
    const { sign_in, api, ...result } = JSON.parse(out)
    const { subscribers, http } = loaded()
    expect(result).toMatchObject({ file, domain: 'voice.example' })
    expect(api).toEqual({ user: 'main', token: http.apiToken })
    expect(sign_in.email).toBe(subscribers[0]?.email)
    expect(await new Passwords().verify(sign_in.password, subscribers[0]?.password ?? '')).toBe(true)
  })
})

it.each([false, true])('a folder is no file to write, by force: %s', async (force) => {
  file = folder
  expect(await init({ force })).toBe(1)
  expect(err).toBe(`trunkline: ${folder} is a folder. Name a file in it.\n`)
})

describe('an existing file', () => {
  beforeEach(() => writeFileSync(file, 'mine', { mode: 0o644 }))

  it('stays as it is', async () => {
    expect(await init({})).toBe(1)
    expect(readFileSync(file, 'utf8')).toBe('mine')
    expect(err).toBe(`trunkline: ${file} exists. Name another file, or use --force.\n`)
  })

  it.each([
    [0o644, 0o640, 'It keeps the readers that it had.'],
    [0o660, 0o660, 'It keeps the readers that it had.'],
    [0o600, 0o600, 'Only you can read it.'],
  ])('with mode %o is replaced by force, and then has %o', async (before, after, readers) => {
    chmodSync(file, before)
    expect(await init({ force: true })).toBe(0)
    loaded()
    expect(statSync(file).mode & 0o777).toBe(after)
    expect(out).toContain(readers)
  })

  it.skipIf(process.getuid?.() !== 0)('keeps its owner and group', async () => {
    chownSync(file, 65_534, 65_533)
    expect(await init({ force: true })).toBe(0)
    expect(statSync(file)).toMatchObject({ uid: 65_534, gid: 65_533 })
  })
})

describe('a terminal', () => {
  it('is asked what no option gives, and again after an invalid answer', async () => {
    const terminal = answering('', 'voice example', 'voice.example', '203.0.113/24', '203.0.113.0/24', '')
    expect(await writeFirstConfig(file, { ...none, host: undefined }, terminal)).toBe(0)
    const { domains, subscribers } = loaded()
    expect(domains[0]).toMatchObject({ domain: 'voice.example' })
    expect(domains[0]?.allow?.[0]).toBe('203.0.113.0/24')
    expect(subscribers[0]?.email).toBe('admin@voice.example')
    expect(terminal.questions[2]).toMatch(/^It must be a host name or an IP address\. Host that callers dial/)
    expect(terminal.questions.length).toBe(6)
  })

  it('is asked nothing that the options give', async () => {
    const terminal = answering()
    const options = { host: '127.0.0.1', domain: 'a.example', carrier: ['10.0.0.0/8'], email: 'a@a.example' }
    expect(await writeFirstConfig(file, { ...none, ...options }, terminal)).toBe(0)
    expect(terminal.questions).toEqual([])
  })

  it('must be there unless --yes is given', async () => {
    expect(await init({ yes: false })).toBe(2)
    expect(err).toContain('no terminal. Use --yes')
    expect(existsSync(file)).toBe(false)
  })
})

it.each<[Partial<InitCommandOptions>, string]>([
  [{ host: 'gw.example' }, "option '--host' must be an IP address"],
  [{ domain: 'a b' }, "option '--domain' must be a host name"],
  [{ carrier: ['10.0.0.0/8', '10.0.0.0/33'] }, "option '--carrier' must be an IP network"],
  [{ email: 'ann' }, "option '--email' must be an e-mail address"],
  [{ email: 'a/b@x.example' }, "option '--email' must be an e-mail address"],
  [{ apiTokenVariable: 'a-b' }, "option '--api-token-variable' must be the name"],
])('%j ends with 2 and a reason', async (options, reason) => {
  expect(await init(options)).toBe(2)
  expect(err).toContain(reason)
  expect(existsSync(file)).toBe(false)
})

it('finds the next free port', async () => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve))
  const { port } = server.address() as { port: number }
  expect(await freePort(port, ['tcp', 'udp'])).toBeGreaterThan(port)
  server.close()
})
