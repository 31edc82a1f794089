import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'

/** Names of the packages that a gateway loads before it has read its configuration. */
const packages = (): string[] => {
  const script = `
    import { registerHooks } from 'node:module'
    const packages = new Set()
    registerHooks({
      load(url, context, next) {
        const name = /\\/node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(url)?.[1]
        if (name) packages.add(name)
        return next(url, context)
      },
    })
    await import(${JSON.stringify(join(import.meta.dirname, 'app.ts'))})
    console.log(JSON.stringify([...packages]))`
  const flags = ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval']
  return JSON.parse(execFileSync(process.execPath, [...flags, script], { encoding: 'utf8' }))
}

it('a start loads the authorization server only where there is one', () => {
  const loaded = packages()
  expect(loaded).toContain('fastify')
  expect(loaded).not.toContain('oidc-provider')
})
