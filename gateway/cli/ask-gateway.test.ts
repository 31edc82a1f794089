import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { controlSocketOf } from '../operator/control-socket.ts'
import { askGateway, noGateway } from './ask-gateway.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-ask-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

it('a gateway that accepts the connection and stays silent is an error, not an endless wait', async () => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(controlSocketOf(folder), resolve))
  const asked = askGateway(folder, { command: 'status' }, { silenceMs: 1 })
  await expect(asked).rejects.toThrow(`The gateway of ${folder} does not answer`)
  server.close()
})

describe('the text about an unreachable gateway', () => {
  it('names a data folder that does not exist', () => {
    const missing = join(folder, 'none')
    expect(noGateway(missing)).toContain(`${missing}: the folder does not exist`)
  })

  it('says that no gateway runs', () => {
    expect(noGateway(folder)).toContain(`No gateway runs with the data folder ${folder}.`)
  })

  it.each([
    ['data folder', (path: string) => path === folder],
    ['control socket', (path: string) => path === controlSocketOf(folder)],
  ])('names missing rights for the %s', (_, isForbidden) => {
    const access = (path: unknown) => {
      if (isForbidden(String(path))) throw Object.assign(new Error('denied'), { code: 'EACCES' })
    }
    expect(noGateway(folder, access)).toContain('Run the command as the user of the gateway')
  })
})
