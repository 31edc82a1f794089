import { expect, it } from 'vitest'
import { config } from './testing/directories.ts'
import { describeEngines } from './testing/engines.ts'

const p = 'project-1'
const other = 'project-2'
const both = [p, other].map((id) => ({ id, name: id, signingKeys: [] }))

describeEngines('projects', (engine) => {
  it('have tokens that only their hash is kept of', async () => {
    const first = { id: p, name: 'acme', signingKeys: [], apiToken: 'token-of-the-file' }
    const directory = await engine.open({ config: config({ projects: [first] }) })
    const { projects } = directory
    expect(projects.project(p)).toEqual({ id: p, name: 'acme' })
    const ofFile = projects.tokenOf('token-of-the-file')
    expect(ofFile).toMatchObject({ projectId: p, managedByFile: true })
    const { token, secret } = await projects.addToken(p, {
      name: 'ci',
      scopes: ['calling'],
      expiresAt: engine.clock.now() + 1000,
    })
    expect(projects.tokenOf(secret)).toEqual(token)
    expect(projects.tokenOf(`${secret}x`)).toBeUndefined()
    expect(JSON.stringify(await directory.store.selectFrom('api_token').selectAll().execute())).not.toContain(
      secret,
    )
    const changed = await projects.changeToken(p, token.id, { scopes: ['records'] })
    expect(projects.tokenOf(secret)).toEqual(changed)
    engine.clock.advance(1000)
    expect(projects.tokenOf(secret)).toBeUndefined()
    await projects.removeToken(p, token.id)
    expect(projects.tokens(p)).toEqual([ofFile])
    await expect(projects.removeToken(p, ofFile?.id ?? '')).rejects.toMatchObject({ code: 'managed_by_file' })
    await expect(projects.removeToken(other, ofFile?.id ?? '')).rejects.toMatchObject({
      code: 'unknown_resource',
    })
    await directory.close()
    // With the file's word the token goes; the project stays.
    const again = await engine.open({
      config: config({ projects: [{ id: p, name: 'other', signingKeys: [] }] }),
    })
    expect(again.projects.tokenOf('token-of-the-file')).toBeUndefined()
    expect(again.projects.project(p)).toEqual({ id: p, name: 'other' })
  })

  it('of the file have entries of their own under the same names', async () => {
    const subscribers = [p, other].map((project) => ({
      project,
      email: 'ann@example.test',
      name: 'ann',
      context: 'public',
      mayDialOut: true,
      password: `password of ${project}`,
    }))
    const directory = await engine.open({ config: config({ projects: both, subscribers }) })
    for (const id of [p, other]) {
      expect(await directory.signIn(id, 'ann@example.test', `password of ${id}`)).toMatchObject({
        projectId: id,
      })
      expect(directory.resolve('/public/ann', id)).toMatchObject({ kind: 'subscriber' })
    }
    expect(await directory.signIn(p, 'ann@example.test', `password of ${other}`)).toBeUndefined()
    expect(directory.resolve('/public/help', other)).toBeUndefined()
  })

  it('trade names in the file', async () => {
    const named = (a: string, b: string) => [
      { id: p, name: a, signingKeys: [] },
      { id: other, name: b, signingKeys: [] },
    ]
    await (await engine.open({ config: config({ projects: named('x', 'y') }) })).close()
    const { projects } = await engine.open({ config: config({ projects: named('y', 'x') }) })
    expect([projects.project(p)?.name, projects.project(other)?.name]).toEqual(['y', 'x'])
  })
})
