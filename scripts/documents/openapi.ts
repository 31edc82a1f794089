import { ApiTestSite } from '../../gateway/http/testing/api-test-site.ts'

/** The OpenAPI document that a gateway serves at `/openapi.json`, as a file: an operation to a line, so that changes can be found. */
export const openApiPage = async (): Promise<string> => {
  const rig = await ApiTestSite.open()
  try {
    const { paths = {}, ...rest } = rig.site.swagger()
    return `${lines({ ...rest, paths: Raw.of(paths) }, 2)}\n`
  } finally {
    await rig.close()
  }
}

/** Text that is JSON already. */
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

/** An object, with a line for each of its fields. */
const lines = (fields: object, indent: number): string => {
  const text = (value: unknown) => (value instanceof Raw ? value.text : JSON.stringify(value))
  const each = Object.entries(fields).map(
    ([name, value]) => `${' '.repeat(indent)}${JSON.stringify(name)}: ${text(value)}`,
  )
  return `{\n${each.join(',\n')}\n${' '.repeat(indent - 2)}}`
}
