import { ApiTestSite } from '../../gateway/http/testing/api-test-site.ts'

/** Returns the OpenAPI document of `/openapi.json`, with one operation per line for readable differences. */
export const openApiPage = async (): Promise<string> => {
  const rig = await ApiTestSite.open()
  try {
    const { paths = {}, ...rest } = rig.site.swagger()
    return `${lines({ ...rest, paths: Raw.of(paths) }, 2)}\n`
  } finally {
    await rig.close()
  }
}

/** Text in JSON. */
class Raw {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  static of(paths: object): Raw {
    const each = Object.entries(paths).map(([path, operations]) => [path, new Raw(lines(operations, 6))])
    return new Raw(lines(Object.fromEntries(each), 4))
  }
}

/** Returns an object in JSON, with a line for each field. */
const lines = (fields: object, indent: number): string => {
  const text = (value: unknown) => (value instanceof Raw ? value.text : JSON.stringify(value))
  const each = Object.entries(fields).map(
    ([name, value]) => `${' '.repeat(indent)}${JSON.stringify(name)}: ${text(value)}`,
  )
  return `{\n${each.join(',\n')}\n${' '.repeat(indent - 2)}}`
}
