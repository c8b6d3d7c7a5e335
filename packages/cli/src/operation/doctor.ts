import { examineInstallation, type Finding } from "@stepwell/server";
import { show } from "../output/terminal.ts";

/** Prints the findings. The process ends with the exit code 1 when one of them is a problem. */
export async function doctor(): Promise<void> {
  const findings = await examineInstallation(process.env);
  const countOf = (level: Finding["level"]) => findings.filter((finding) => finding.level === level).length;
  const [problemCount, warningCount] = [countOf("problem"), countOf("warning")];
  const lines = findings.map(({ check, level, detail }) => `${words[level].padEnd(9)}${check.padEnd(16)}${detail}`);
  const summary = `${problemCount === 0 ? "No problem" : `Problems: ${problemCount}`}; warnings: ${warningCount}.`;
  const quiet = findings.filter(({ level }) => level === "problem").map(({ check }) => check);
  show({ value: { isHealthy: problemCount === 0, findings }, text: [...lines, summary].join("\n"), quiet });
  if (problemCount > 0) process.exitCode = 1;
}

const words: Readonly<Record<Finding["level"], string>> = { ok: "ok", warning: "WARNING", problem: "PROBLEM" };
