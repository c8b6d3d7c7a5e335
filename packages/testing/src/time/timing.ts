/**
 * Tells by Welch's t-test whether two questions take the service different times: an attacker who can tell them apart learns what the answers do not
 * say. On a busy machine, single answers are slow and whole periods are noisy. So both questions are asked in turn, the slowest answers are left out,
 * and a difference counts only if it is found in the same direction in each of three rounds.
 */
export async function canBeToldApart(one: Question, other: Question, count: number): Promise<boolean> {
  let sign = 0;
  for (let round = 0; round < rounds; round += 1) {
    const { ofOne, ofOther } = await timesOf(one, other, count);
    const t = welchT(ofOne, ofOther);
    if (Math.abs(t) < threshold || Math.sign(t) === -sign) return false;
    sign = Math.sign(t);
  }
  return true;
}

/** Asks the service once. */
export type Question = () => Promise<unknown>;

/** In a million comparisons of two equal questions, fewer than ten reach this value by chance. */
const threshold = 4.5;
const rounds = 3;

async function timesOf(one: Question, other: Question, count: number): Promise<{ ofOne: number[]; ofOther: number[] }> {
  const ofOne: number[] = [];
  const ofOther: number[] = [];
  for (let index = 0; index < count; index += 1) {
    // The order of the two questions is random, since the second one finds warmer caches.
    if (Math.random() < 0.5) {
      ofOne.push(await timeOf(one));
      ofOther.push(await timeOf(other));
    } else {
      ofOther.push(await timeOf(other));
      ofOne.push(await timeOf(one));
    }
  }
  return { ofOne, ofOther };
}

async function timeOf(question: Question): Promise<number> {
  const begunAt = performance.now();
  await question();
  return performance.now() - begunAt;
}

/** Computes Welch's t of two samples. It leaves out the slowest tenth of all values, which depend on the machine. */
export function welchT(one: readonly number[], other: readonly number[]): number {
  const all = [...one, ...other].sort((left, right) => left - right);
  const slowest = all[Math.floor(all.length * 0.9)] ?? Number.POSITIVE_INFINITY;
  const [first, second] = [one, other].map((values) => momentsOf(values.filter((value) => value < slowest)));
  if (first === undefined || second === undefined) return 0;
  return (first.mean - second.mean) / Math.sqrt(first.variance / first.count + second.variance / second.count);
}

function momentsOf(values: readonly number[]): { count: number; mean: number; variance: number } {
  const count = values.length;
  const mean = values.reduce((sum, value) => sum + value, 0) / count;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (count - 1);
  return { count, mean, variance };
}
