// Paths as boxes and arrows: topic -relation-> ? -> answer.

/** Draw a path of a record; an end that stays open stands for all answers. */
function drawPath(path, answers) {
  const steps = path.map((step, at) => {
    const role = at === path.length - 1 ? "answer" : "between";
    return el("li", {}, drawArrow(step.relation, step.forward), drawNode(step.tail, role, answers));
  });
  return el("ol", { class: "path" }, el("li", {}, drawNode(path[0]?.head, "topic")), steps);
}

/** Draw a gold path: a topic and the names of relations, with "^" against the arrow. */
function drawGold(path, topics) {
  const topic = topics.find((one) => one.id === path.topic) ?? (path.topic ? { id: path.topic } : topics[0]);
  const steps = path.relations.map((relation, at) => {
    const role = at === path.relations.length - 1 ? "answer" : "between";
    return el(
      "li",
      {},
      drawArrow(relation.replace(/^\^/, ""), !relation.startsWith("^")),
      drawNode(null, role),
    );
  });
  return el("ol", { class: "path" }, el("li", {}, drawNode(topic, "topic")), steps);
}

function drawNode(ref, role, answers) {
  const open = !ref || (ref.id === null && !ref.name);
  const text = !open
    ? nameOf(ref)
    : role === "answer" && answers > 1
      ? plural(answers, "answer", "answers")
      : "?";
  const words = open && text === "?" ? "a node that stays open" : null;
  return el("span", { class: `node ${role}${open ? " open" : ""}`, title: ref?.id ?? words }, said(text));
}

function drawArrow(relation, forward) {
  const words = forward ? "along its arrow" : "against its arrow";
  return el(
    "span",
    { class: forward ? "arrow forward" : "arrow backward", title: `${relation}, ${words}` },
    el("span", { class: "relation" }, said(localName(relation))),
    el("span", { class: "unseen" }, `, ${words}`),
  );
}
