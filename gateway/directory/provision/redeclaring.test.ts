import { expect, it, vi } from 'vitest'
import type { Directory } from '../directory.ts'
import { config, phone } from '../testing/directories.ts'
import { describeEngines, describePostgres } from '../testing/engines.ts'
import type { DirectoryConfig } from './declared.ts'

const limits = { subscribers: 2, resources: 2, domainApps: 2, carriers: 2, tokens: 2 }
const declaring = (changes: Partial<DirectoryConfig> = {}) => ({
  config: config(changes),
  limits,
  domainSuffix: 'dapp.localhost',
})

/** Steps of a reload that concern a directory. */
const redeclare = async (directory: Directory, changes: Partial<DirectoryConfig>): Promise<void> => {
  const step = await directory.prepareDeclared(declaring(changes), declaring())
  await directory.transaction(async (write) => step?.write?.(write))
  step?.commit()
  await step?.after?.()
}

describeEngines('a directory whose file has changed', (engine) => {
  const open = () => engine.open({ config: config() })

  it('has what the file declares now; what stays keeps its id', async () => {
    const directory = await open()
    const alice = directory.subscriberByEmail('project-1', 'alice@example.test')
    const [kept] = config().subscribers
    await redeclare(directory, {
      domains: [{ domain: 'new.example' }],
      subscribers: [kept!],
      endpoints: [phone],
      projects: [
        ...config().projects,
        { id: 'project-2', name: 'project-2', signingKeys: [], apiToken: 'a-token-of-project-2' },
      ],
    })
    expect(directory.domainApp('demo.example')).toBeUndefined()
    expect(directory.domainApp('new.example')).toMatchObject({ allow: undefined })
    expect(directory.subscriberByEmail('project-1', 'alice@example.test')?.id).toBe(alice?.id)
    expect(directory.subscriberByEmail('project-1', 'bob@example.test')).toBeUndefined()
    expect(directory.endpointByName('desk1')?.secrets.size).toBe(2)
    expect(directory.projects.tokenOf('a-token-of-project-2')?.projectId).toBe('project-2')
  })

  it('takes a new password, and with it the tokens that the old one got', async () => {
    const directory = await open()
    const [alice, bob] = config().subscribers
    const before = directory.subscriberByEmail('project-1', 'alice@example.test')
    await redeclare(directory, { subscribers: [{ ...alice!, password: 'looking-glass' }, bob!] })
    const signIn = (password: string) => directory.signIn('project-1', 'alice@example.test', password)
    expect(await signIn('wonder')).toBeUndefined()
    expect(await signIn('looking-glass')).toMatchObject({ id: before?.id })
    expect((await signIn('looking-glass'))?.tokensAfter).toBeGreaterThan(before?.tokensAfter ?? 0)
  })

  it('has agents of the file, with the turn-taking of the configuration', async () => {
    const directory = await open()
    const agent = { kind: 'agent', document: '{"prompt":{"text":"Hi"}}', name: 'the file' } as const
    const changes = (endOfSpeechMs: number) => ({
      agents: { silence: { endOfSpeechMs, semantic: false } },
      domains: [{ domain: 'agent.example', handler: agent }],
      resources: [{ address: '/public/assistant', handler: agent }],
    })
    const handlers = () => [
      directory.domainApp('agent.example')?.handler,
      directory.resolve('/public/assistant', 'project-1'),
    ]
    for (const ms of [400, 800]) {
      await redeclare(directory, changes(ms))
      const params = { end_of_speech_timeout: ms, enable_turn_detection: false }
      const main = [{ answer: {} }, { ai: { prompt: { text: 'Hi' }, params } }]
      const document = JSON.stringify({ version: '1.0.0', sections: { main } })
      const handler = { kind: 'script', document, name: 'the file' }
      expect(handlers()).toMatchObject([handler, { kind: 'handler', handler }])
    }
    const found = directory.resources.findByAddress('project-1', 'public', 'assistant')
    expect(found).toMatchObject({ type: 'ai_agent', managedByFile: true })
  })

  it('has nothing to write where only other keys have changed', async () => {
    const directory = await open()
    expect(await directory.prepareDeclared(declaring(), declaring())).toBeUndefined()
    const next = { ...declaring(), limits: { ...limits, domainApps: 0 } }
    const step = await directory.prepareDeclared(next, declaring())
    expect(step?.write).toBeUndefined()
    step?.commit()
    const made = directory.domainApps.create('project-1', { name: 'x', identifier: 'x' } as never)
    await expect(made).rejects.toMatchObject({ code: 'over_quota', facts: { limit: 0 } })
  })

  it('is as it was where the store does not take it', async () => {
    const directory = await open()
    const changes = { domains: [{ domain: 'new.example' }] }
    const step = await directory.prepareDeclared(declaring(changes), declaring())
    const failed = directory.transaction(async (write) => {
      await step?.write?.(write)
      throw new Error('another part refuses')
    })
    await expect(failed).rejects.toThrow('another part refuses')
    await step?.after?.()
    expect(directory.domainApp('demo.example')).toBeDefined()
    expect(directory.domainApp('new.example')).toBeUndefined()
  })

  it('refuses what is declared twice, before anything is written', async () => {
    const directory = await open()
    const twice = { domains: [{ domain: 'new.example' }, { domain: 'NEW.example' }] }
    await expect(directory.prepareDeclared(declaring(twice), declaring())).rejects.toThrow('declared twice')
  })
})

describePostgres('gateways on one database', (engine) => {
  it('all have what the file of one declares, as soon as it was reloaded', async () => {
    const one = await engine.open({ config: config() })
    const other = await engine.open({ config: config() })
    await redeclare(one, { domains: [{ domain: 'new.example' }] })
    await vi.waitFor(() => expect(other.domainApp('new.example')).toBeDefined(), 5_000)
    expect(other.domainApp('demo.example')).toBeUndefined()
  })
})
