import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import weka.classifiers.Classifier;
import weka.classifiers.bayes.BayesNet;
import weka.core.Instances;
import weka.core.Utils;
import weka.core.Version;
import weka.core.converters.ConverterUtils.DataSource;
import weka.filters.Filter;
import weka.filters.unsupervised.attribute.ReplaceMissingValues;

/**
 * Prints numbers of WEKA in full precision, one tab-separated record a line. The last attribute is the class.
 *
 * <pre>
 * WekaGolden model   data.arff CLASSIFIER [OPTION...]   posteriors of the training rows
 * WekaGolden replace data.arff CLASSIFIER [OPTION...]   the same after ReplaceMissingValues
 * WekaGolden cuts    data.arff                          cut points of both Discretize filters
 * </pre>
 */
public final class WekaGolden {

    public static void main(String[] args) throws Exception {
        Instances data = DataSource.read(args[1]);
        data.setClassIndex(data.numAttributes() - 1);
        print("version", Version.VERSION);
        if (args[0].equals("cuts")) {
            printCuts(data);
            return;
        }
        if (args[0].equals("replace")) {
            data = replaceMissing(data);
        }
        Classifier model = Classifier.forName(args[2], Arrays.copyOfRange(args, 3, args.length));
        print("options", Utils.joinOptions(model.getOptions()));
        model.buildClassifier(data);
        if (model instanceof BayesNet) {
            printParents((BayesNet) model, data);
        }
        for (int row = 0; row < data.numInstances(); row++) {
            print("row", model.distributionForInstance(data.instance(row)));
        }
    }

    /** Replaces missing values by modes and prints the mode (its index) of every attribute but the class. */
    private static Instances replaceMissing(Instances data) throws Exception {
        double[] modes = new double[data.numAttributes() - 1];
        for (int i = 0; i < modes.length; i++) {
            modes[i] = data.meanOrMode(i);
        }
        print("modes", modes);
        ReplaceMissingValues filter = new ReplaceMissingValues();
        filter.setInputFormat(data);
        return Filter.useFilter(data, filter);
    }

    /** For every attribute the index of its parent besides the class, or -1. */
    private static void printParents(BayesNet net, Instances data) {
        double[] parents = new double[data.numAttributes() - 1];
        for (int i = 0; i < parents.length; i++) {
            parents[i] = -1;
            for (int p = 0; p < net.getNrOfParents(i); p++) {
                if (net.getParent(i, p) != data.classIndex()) {
                    parents[i] = net.getParent(i, p);
                }
            }
        }
        print("parents", parents);
    }

    private static void printCuts(Instances data) throws Exception {
        weka.filters.supervised.attribute.Discretize mdlp = new weka.filters.supervised.attribute.Discretize();
        mdlp.setInputFormat(data);
        Filter.useFilter(data, mdlp);
        weka.filters.unsupervised.attribute.Discretize width = new weka.filters.unsupervised.attribute.Discretize();
        width.setOptions(new String[] {"-B", "10"});
        width.setInputFormat(data);
        Filter.useFilter(data, width);
        for (int i = 0; i < data.numAttributes(); i++) {
            if (data.attribute(i).isNumeric()) {
                print("mdlp", mdlp.getCutPoints(i));
                print("width", width.getCutPoints(i));
            }
        }
    }

    private static void print(String key, double... values) {
        List<String> texts = new ArrayList<>();
        for (double value : values == null ? new double[0] : values) {
            texts.add(Double.toString(value));
        }
        print(key, String.join("\t", texts));
    }

    private static void print(String key, String text) {
        System.out.println(key + "\t" + text);
    }
}
