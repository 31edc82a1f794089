import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { loadConfig } from '../../../config/load.ts'
import { enginesOf, gatewayConfig, standInEngines } from './gateway-config.ts'

const inFolder = async (run: (folder: string) => Promise<void> | void): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-config-'))
  try {
    await run(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const document = { kind: 'agent', value: { prompt: { text: 'Hello.' } } } as const

it('makes a valid configuration with a domain and an engine for each caller', () =>
  inFolder(async (folder) => {
    const standIns = [8001, 8002].map((port) => ({
      url: `http://127.0.0.1:${port}`,
      wsUrl: `ws://127.0.0.1:${port}`,
    }))
    const file = join(folder, 'trunkline.yaml')
    writeFileSync(file, JSON.stringify(await gatewayConfig([document, document], standInEngines(standIns))))
    const { domains, agents, media } = loadConfig(file, {})
    expect(domains.map(({ domain }) => domain)).toEqual(['caller-1.agent-test', 'caller-2.agent-test'])
    expect(agents.default).toBe('stand-in-1')
    expect(Object.keys(agents.engines)).toEqual(['stand-in-1', 'stand-in-2'])
    expect(agents.recognisers['stand-in-2']?.url).toBe('ws://127.0.0.1:8002/vosk')
    expect(media.rtp.ports.to - media.rtp.ports.from).toBe(99)
  }))

it('takes engines and limits of a configuration, with their variables, and nothing else', () =>
  inFolder(async (folder) => {
    const file = join(folder, 'own.yaml')
    writeFileSync(
      file,
      `
agents:
  engines: { hosted: { kind: openai-realtime, model: m, key: "\${PATH}" } }
limits: { documentNetworks: [10.0.0.0/8] }
domains: [{ domain: example.com, allow: [10.0.0.0/8] }]
`,
    )
    const taken = enginesOf(file)
    expect(Object.keys(taken)).toEqual(['agents', 'limits'])
    expect(taken.agents).toEqual({
      engines: { hosted: { kind: 'openai-realtime', model: 'm', key: `\${PATH}` } },
    })
    const config = await gatewayConfig([document], taken)
    expect(config.limits).toMatchObject({ documentNetworks: ['127.0.0.0/8', '10.0.0.0/8'] })
  }))

it('permits the server of the functions beside the networks of the configuration', () =>
  inFolder(async (folder) => {
    const file = join(folder, 'trunkline.yaml')
    const limits = { documentNetworks: ['10.0.0.0/8'] }
    for (const [server, network] of [
      ['192.0.2.7', '192.0.2.7/32'],
      ['2001:db8::7', '2001:db8::7/128'],
    ]) {
      writeFileSync(file, JSON.stringify(await gatewayConfig([document], { limits }, server)))
      const { documentNetworks } = loadConfig(file, {}).limits
      expect(documentNetworks).toEqual(['127.0.0.0/8', network, '10.0.0.0/8'])
    }
  }))

it('finds the files of the detector in the folder of the configuration', () =>
  inFolder(async (folder) => {
    const file = join(folder, 'own.yaml')
    const model = `\${NO_SUCH_FOLDER:-/models}/v6.onnx`
    writeFileSync(file, `agents: { detector: { kind: silero, folder: packages, model: "${model}" } }`)
    const taken = enginesOf(file)
    expect(taken.agents).toEqual({
      detector: { kind: 'silero', folder: join(folder, 'packages'), model: '/models/v6.onnx' },
    })
  }))
