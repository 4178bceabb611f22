/** Numbers fit into two bytes. */
const MOST = 0xffff

/** Gives numbers, from 1 on, to what many records share. */
export class Numbered<Value> {
  readonly #numbers = new Map<string, number>()
  readonly #values: (Value | undefined)[] = [undefined]

  /** All values, that of number 1 first. */
  list(): Value[] {
    return this.#values.filter((value) => value !== undefined)
  }

  get(number: number): Value | undefined {
    return this.#values[number]
  }

  /** The number of the value called `name`: 0 where that is empty, -1 where there are too many. */
  add(name: string, value: Value | undefined): number {
    if (name === '') return 0
    const known = this.#numbers.get(name)
    if (known !== undefined) return known
    const number = this.#values.length
    if (number > MOST) return -1
    this.#numbers.set(name, number)
    this.#values.push(value)
    return number
  }
}
