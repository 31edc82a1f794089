import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { describeEngines } from './testing/engines.ts'

const burst = fileURLToPath(new URL('testing/burst.ts', import.meta.url))

/**
 * Kills a process while it creates resources. Returns the ids of the resources that it reported as created.
 */
const killedBurst = async (place: string, made: number): Promise<readonly string[]> => {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', burst, place], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
    if (text.split('\n').length > made) child.kill('SIGKILL')
  })
  const [, signal] = await once(child, 'close')
  expect(signal).toBe('SIGKILL')
  // The last line may be half of one.
  return text.split('\n').slice(0, -1)
}

describeEngines('a gateway that is killed while it writes', (engine) => {
  it('loses nothing that was acknowledged', async () => {
    const { file, url } = engine.place
    for (const round of [40, 120]) {
      const ids = await killedBurst(url ?? file, round)
      expect(ids.length).toBeGreaterThanOrEqual(round)
      const directory = await engine.open()
      const lost = ids.filter((id) => !directory.resources.find('project-1', 'relay_application', id))
      expect(lost).toEqual([])
      await directory.close()
    }
  }, 60_000)
})
